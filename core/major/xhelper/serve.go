package xhelper

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
)

// part is a set of the things that a middleware does for a request.
type part uint8

const (
	partAccess part = 1 << iota
	partRecovery
	partLimit
	partRespond

	partAll = partAccess | partRecovery | partLimit | partRespond
)

// server is a Config made ready.
type server struct {
	base         context.Context
	enableInput  bool
	exclude      patterns
	quiet        patterns
	maxBody      int64
	routeMaxBody map[string]int64
	bodies       bodyBudget
	timeout      time.Duration
	routeTimeout map[string]time.Duration
	trustProxies bool
	debug        bool
	profile      uint8
	log          *xlog.LogNamedLogger
	parts        part
}

// serve is the middleware.
func (s *server) serve(c *gin.Context) {
	ex := exchangeOf(c)
	first := ex == nil
	if first {
		ex = s.begin(c)
	}
	parts := s.parts &^ ex.parts
	if c.Writer == ex.writer.ResponseWriter { // gin's HandleContext starts over, and ends the response
		c.Writer = &ex.writer
		parts |= s.parts & partRespond
	}
	if parts == 0 && !first {
		c.Next()
		return
	}
	ex.parts |= parts
	if parts&partAccess != 0 {
		ex.request.SetAccessLog()
	}
	run := run{server: s, exchange: ex, parts: parts, first: first}
	defer run.end()
	run.handle()
}

// run is one middleware's turn at an exchange.
type run struct {
	*server
	*exchange
	parts    part
	first    bool
	returned bool
}

// handle calls the handlers and sees to it that there is an answer.
func (r *run) handle() {
	if r.parts&partLimit != 0 {
		r.limit()
	}
	r.c.Next()
	if r.parts&partRespond != 0 {
		r.respond()
	}
	r.returned = true
}

// end runs when the handlers have returned or panicked.
func (r *run) end() {
	aborted, panics := !r.returned, false // without a panic it is runtime.Goexit, which goes on
	if aborted && r.parts&partRecovery != 0 {
		if v := recover(); v != nil {
			panics = r.recovered(v)
			aborted = panics
		}
	}
	if r.parts&partAccess != 0 {
		r.access(aborted)
	}
	if r.first {
		r.close()
	}
	if panics {
		panic(http.ErrAbortHandler)
	}
}

// limit enforces the limit of the body. If the declared length is over it, the middleware of the
// application runs, and sees that, but not the last handler of the route.
func (r *run) limit() {
	limit := r.maxBody
	if own, ok := r.routeMaxBody[r.c.FullPath()]; ok {
		limit = own
	}
	req := r.c.Request
	r.countBody(req, &r.bodies, limit)
	switch {
	case r.counted != nil && !r.bodies.has(req.ContentLength):
		r.refuse(overloaded())
	case limit < 0 || req.ContentLength >= 0 && req.ContentLength <= limit: // the server reads no more than the declared length
	case req.ContentLength < 0:
		req.Body = http.MaxBytesReader(innermost(r.c.Writer), req.Body, limit)
	default:
		message := xerror.ErrMessage("at most " + strconv.FormatInt(limit, 10) + " bytes are accepted")
		r.refuse(xerror.Wrap(xerror.PayloadTooLarge, message, &http.MaxBytesError{Limit: limit}))
	}
}

// refuse answers with err instead of calling the last handler.
func (r *run) refuse(err error) {
	r.refused = err
	r.c.Request.Body = refusedBody{err}
	dropHandler(r.c)
}

// refusedBody is a body of which nothing is read.
type refusedBody struct{ err error }

// Read returns why.
func (b refusedBody) Read([]byte) (int, error) { return 0, b.err }

// Close does nothing: the server closes what it has.
func (refusedBody) Close() error { return nil }

// innermost returns the server's own writer: it is the one that http.MaxBytesReader can tell to close
// the connection.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	for {
		inner, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = inner.Unwrap()
	}
}
