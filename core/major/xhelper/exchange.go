package xhelper

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// exchange is one request and its response while the engine has them, in a single
// allocation unless the request has a body. It is never reused: the request's context,
// which is part of it, may outlive it. The server is its configuration, and the
// xctx.Request in it is what packages without gin see of it. Package call of grpcx has
// the same for calls.
type exchange struct {
	request xctx.Request
	http    http.Request
	origin  origin
	writer  writer
	body    *body // nil: the request has none

	server   *server // of the middleware that began it, then of Serve
	c        *gin.Context
	path     string // as the client sent it; handlers may rewrite the URL
	refused  error  // why the handler does not run, or nil
	responds bool   // Serve or Respond is mounted
	served   bool   // Serve is mounted
	// by a middleware around this one, so that Content-Encoding is not ours to change
	encoded  bool
	answered bool // by answer
	ended    atomic.Bool
	stream   atomic.Bool // see markStream

	endHead context.CancelFunc // of the context of a HEAD request, else nil
}

// exchangeOf returns the exchange that c is in, or nil. A request that a handler, or a
// task after it, makes to an engine in the same process with its own context is another
// one: gin.Context is reused, so that both may have the same.
func exchangeOf(c *gin.Context) *exchange {
	ex, _ := c.Request.Context().Value(exchangeKey{}).(*exchange)
	if ex == nil || ex.c != c || ex.ended.Load() {
		return nil
	}
	return ex
}

// begin makes the exchange of the request and puts its context and its writer into c.
func (s *server) begin(c *gin.Context) *exchange {
	ex := &exchange{server: s, c: c, path: c.Request.URL.Path}
	ex.writer.ResponseWriter, ex.writer.exchange = c.Writer, ex
	client := c.Request.Context()
	if c.Request.Method == http.MethodHead {
		client, ex.endHead = context.WithCancel(client)
	}
	ex.origin = origin{
		Context: client, exchange: ex,
		timeout: ofRoute(c, s.RouteRequestTimeout, s.RequestTimeout),
	}
	ex.request.Begin(&ex.origin, s.Base)
	ex.request.SetDebug(s.Debug)
	ex.request.SetProfile(uint8(s.Profile))
	ex.request.SetAcceptLanguage(strings.Join(c.Request.Header[string(xhttp.AcceptLanguage)], ","))
	h := c.Writer.Header()
	ex.encoded = len(h[string(xhttp.ContentEncoding)]) > 0
	if !s.exclude.match(ex.path) {
		s.identify(ex)
		h[string(xhttp.RequestUUID)] = ex.request.HeaderValue()
	}
	c.Writer = &ex.writer
	// stays on the stack, so that ex is the only allocation
	ex.http = *c.Request.WithContext(&ex.request)
	c.Request = &ex.http
	ex.wrapBody()
	return ex
}

// identify gives the request its id: the client's where that is allowed and valid, else a
// new one.
func (s *server) identify(ex *exchange) {
	sent := ex.c.Request.Header[string(xhttp.RequestUUID)]
	if s.EnableInput && len(sent) > 0 && xctx.ValidID(sent[0]) {
		ex.request.SetID(sent[0])
		return
	}
	ex.request.GenerateID()
}

// ofRoute returns the setting of the route of c, or else that of all routes.
func ofRoute[T any](c *gin.Context, routes map[string]T, all T) T {
	if own, ok := routes[c.FullPath()]; ok {
		return own
	}
	return all
}

// close ends the exchange. It removes the temporary files of a form: net/http does so for
// its own copy of the request only.
func (ex *exchange) close() {
	ex.ended.Store(true)
	ex.origin.lift()
	if ex.body != nil {
		ex.body.release()
	}
	if ex.endHead != nil {
		ex.endHead()
	}
	if form := ex.c.Request.MultipartForm; form != nil {
		_ = form.RemoveAll() // what is left lies in the temporary folder
	}
}

// writer is gin's writer, but for three things: a status that no response can have
// becomes 500, the header of a bare error status waits until the end of the request
// (c.AbortWithStatus would write it at once), so that the envelope can still follow, and
// Status knows the error that will be written.
type writer struct {
	gin.ResponseWriter
	exchange *exchange
	held     bool
	hijacked bool
}

// maxStatus is the last HTTP status that is defined (RFC 9110, section 15).
const maxStatus = 599

// WriteHeader sets the status. Like gin's, it takes numbers up to 0 for "leave it".
func (w *writer) WriteHeader(code int) {
	if w.held {
		return
	}
	if code > 0 && (code < http.StatusContinue || code > maxStatus) {
		code = http.StatusInternalServerError
	}
	w.ResponseWriter.WriteHeader(code)
}

// WriteHeaderNow writes the header, or notes that it is to be written.
func (w *writer) WriteHeaderNow() {
	if w.ResponseWriter.Status() >= http.StatusBadRequest && !w.ResponseWriter.Written() {
		w.held = true
		return
	}
	w.starting()
	w.ResponseWriter.WriteHeaderNow()
}

// Written reports whether the response has been started, as far as handlers can tell.
func (w *writer) Written() bool { return w.held || w.ResponseWriter.Written() }

// Size returns the length of the body so far, or -1 where the response has not been
// started.
func (w *writer) Size() int {
	if w.held {
		return max(0, w.ResponseWriter.Size())
	}
	return w.ResponseWriter.Size()
}

// Hijack implements http.Hijacker.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.ResponseWriter.Hijack()
	if err == nil {
		w.hijacked = true
		w.exchange.markStream()
	}
	return conn, rw, err
}

// Unwrap lets http.ResponseController find the server's writer.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// committed reports whether the response has really been started.
func (w *writer) committed() bool { return w.ResponseWriter.Written() }
