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
	t := turn{server: s, exchange: ex, parts: parts, first: first}
	defer t.end()
	t.handle()
}

// turn is one middleware's turn at an exchange: it does the parts that no middleware around it
// has done. Package call of grpcx has the same server, exchange and turn. They are apart because
// they have different lifetimes: a server is a configuration, an exchange the one allocation of
// a request, which outlives it, and a turn is on the stack. The exchange contains an
// xctx.Request, which is what packages without gin see of it.
type turn struct {
	*server
	*exchange
	parts    part
	first    bool
	returned bool
}

// handle calls the handlers and sees to it that there is an answer.
func (t *turn) handle() {
	if t.parts&partLimit != 0 {
		t.limit()
	}
	t.c.Next()
	if t.parts&partRespond != 0 {
		t.respond()
	}
	t.returned = true
}

// end runs when the handlers have returned or panicked.
func (t *turn) end() {
	aborted, panics := !t.returned, false // without a panic it is runtime.Goexit, which goes on
	if aborted && t.parts&partRecovery != 0 {
		if v := recover(); v != nil {
			panics = t.recovered(v)
			aborted = panics
		}
	}
	if t.parts&partAccess != 0 {
		t.access(aborted)
	}
	if t.first {
		t.close()
	}
	if panics {
		panic(http.ErrAbortHandler)
	}
}

// limit enforces the limit of the body. If the declared length is over it, the middleware of the
// application runs, and sees that, but not the last handler of the route.
func (t *turn) limit() {
	limit := t.maxBody
	if own, ok := t.routeMaxBody[t.c.FullPath()]; ok {
		limit = own
	}
	req := t.c.Request
	t.countBody(req, &t.bodies, limit)
	switch {
	case t.counted != nil && !t.bodies.has(req.ContentLength):
		t.refuse(overloaded())
	case limit < 0 || req.ContentLength >= 0 && req.ContentLength <= limit: // the server reads no more than the declared length
	case req.ContentLength < 0:
		req.Body = http.MaxBytesReader(innermost(t.c.Writer), req.Body, limit)
	default:
		message := xerror.ErrMessage("at most " + strconv.FormatInt(limit, 10) + " bytes are accepted")
		t.refuse(xerror.Wrap(xerror.PayloadTooLarge, message, &http.MaxBytesError{Limit: limit}))
	}
}

// refuse answers with err instead of calling the last handler.
func (t *turn) refuse(err error) {
	t.refused = err
	t.c.Request.Body = refusedBody{err}
	dropHandler(t.c)
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
