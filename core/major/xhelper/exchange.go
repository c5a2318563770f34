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

// exchange is one request and its response. It is a single allocation, unless the request
// has a body. It is never reused, because the request's context, which is a part of it,
// may outlive the request. Packages that do not import gin use its xctx.Request.
type exchange struct {
	request  xctx.Request
	http     http.Request
	deadline deadlineContext
	writer   writer
	body     *body // nil without a request body

	server   *server // of the outermost middleware, then of Serve
	c        *gin.Context
	path     string // original path; handlers may rewrite the URL
	rejected error  // why the last handler does not run, or nil
	responds bool   // Serve or Respond is mounted
	served   bool   // Serve is mounted
	// an outer middleware set Content-Encoding, which must not be changed
	encoded   bool
	responded bool // respond was called
	closed    atomic.Bool
	stream    atomic.Bool // set by markStream

	cancelHead context.CancelFunc // cancels the context of a HEAD request, otherwise nil
}

// exchangeOf returns the exchange of c, or nil. A handler, or a goroutine that it starts,
// may send a request with the context of c to an engine in the same process. That request
// has a separate exchange, even if gin reuses the gin.Context.
func exchangeOf(c *gin.Context) *exchange {
	ex, _ := c.Request.Context().Value(exchangeKey{}).(*exchange)
	if ex == nil || ex.c != c || ex.closed.Load() {
		return nil
	}
	return ex
}

// start creates the exchange of the request and stores its context and writer in c.
func (s *server) start(c *gin.Context) *exchange {
	ex := &exchange{server: s, c: c, path: c.Request.URL.Path}
	ex.writer.ResponseWriter, ex.writer.exchange = c.Writer, ex
	client := c.Request.Context()
	if c.Request.Method == http.MethodHead {
		client, ex.cancelHead = context.WithCancel(client)
	}
	ex.deadline = deadlineContext{
		Context: client, exchange: ex,
		timeout: routeSetting(c, s.RouteRequestTimeout, s.RequestTimeout),
	}
	ex.request.Begin(&ex.deadline, s.Base)
	ex.request.SetDebug(s.Debug)
	ex.request.SetProfile(uint8(s.Profile))
	ex.request.SetAcceptLanguage(strings.Join(c.Request.Header[string(xhttp.AcceptLanguage)], ","))
	h := c.Writer.Header()
	ex.encoded = len(h[string(xhttp.ContentEncoding)]) > 0
	if !s.exclude.match(ex.path) {
		s.setID(ex)
		h[string(xhttp.RequestUUID)] = ex.request.HeaderValue()
	}
	c.Writer = &ex.writer
	// the copy stays on the stack, so ex is the only allocation
	ex.http = *c.Request.WithContext(&ex.request)
	c.Request = &ex.http
	ex.wrapBody()
	return ex
}

// setID sets the request ID: the client's if it is allowed and valid, otherwise a new
// one.
func (s *server) setID(ex *exchange) {
	values := ex.c.Request.Header[string(xhttp.RequestUUID)]
	if s.EnableInput && len(values) > 0 && xctx.ValidID(values[0]) {
		ex.request.SetID(values[0])
		return
	}
	ex.request.GenerateID()
}

func routeSetting[T any](c *gin.Context, routes map[string]T, all T) T {
	if setting, ok := routes[c.FullPath()]; ok {
		return setting
	}
	return all
}

// close releases the resources of the exchange. It removes the temporary files of a form,
// because net/http does so only for its own copy of the request.
func (ex *exchange) close() {
	ex.closed.Store(true)
	ex.deadline.remove()
	if ex.body != nil {
		ex.body.release()
	}
	if ex.cancelHead != nil {
		ex.cancelHead()
	}
	if form := ex.c.Request.MultipartForm; form != nil {
		_ = form.RemoveAll() // files that cannot be removed remain in the temporary directory
	}
}

// writer wraps gin's writer and changes three things. It replaces an invalid status with
// 500. It delays the header of an error status without a body, which c.AbortWithStatus
// would write immediately, so that the envelope can follow. Its Status also returns the
// status of an error response that is not written yet.
type writer struct {
	gin.ResponseWriter
	exchange *exchange
	delayed  bool // the header of an error status is not written yet
	hijacked bool
}

// maxStatus is the largest valid HTTP status (RFC 9110, section 15).
const maxStatus = 599

// WriteHeader sets the status. Like gin, it ignores a code of 0 or less.
func (w *writer) WriteHeader(code int) {
	if w.delayed {
		return
	}
	if code > 0 && (code < http.StatusContinue || code > maxStatus) {
		code = http.StatusInternalServerError
	}
	w.ResponseWriter.WriteHeader(code)
}

// WriteHeaderNow writes the header. It delays the header of an error status.
func (w *writer) WriteHeaderNow() {
	if w.ResponseWriter.Status() >= http.StatusBadRequest && !w.ResponseWriter.Written() {
		w.delayed = true
		return
	}
	w.beforeWrite()
	w.ResponseWriter.WriteHeaderNow()
}

// Written reports whether the response has started. It includes a delayed header.
func (w *writer) Written() bool { return w.delayed || w.ResponseWriter.Written() }

// Size returns the number of body bytes written, or -1 if the response has not started.
func (w *writer) Size() int {
	if w.delayed {
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

// Unwrap returns the wrapped writer for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// committed reports whether the response has started. It does not include a delayed
// header.
func (w *writer) committed() bool { return w.ResponseWriter.Written() }
