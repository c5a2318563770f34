package xhelper

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// serve is the middleware.
func (s *server) serve(c *gin.Context) {
	t := turn{exchange: exchangeOf(c)}
	again := false
	if t.exchange == nil {
		t.exchange, t.first = s.begin(c), true
	} else if c.Writer == t.writer.ResponseWriter { // gin's HandleContext starts over, and ends the response
		c.Writer, again = &t.writer, true
	}
	if t.respond = s.does >= contextAndAnswers && (again || !t.responds); t.respond {
		t.responds = true
	}
	if t.full = s.does == everything && !t.served; t.full {
		t.server, t.served = s, true
		t.request.SetAccessLog()
	}
	if !t.first && !t.full && !t.respond {
		c.Next()
		return
	}
	defer t.end()
	t.handle()
}

// turn is what one middleware does at an exchange: what no middleware around it has done. Package call of
// grpcx has the same server, exchange and turn. They are apart because they have different lifetimes: a
// server is a configuration, an exchange the one allocation of a request, which outlives it, and a turn is
// on the stack. The exchange contains an xctx.Request, which is what packages without gin see of it.
type turn struct {
	*exchange
	first    bool // the exchange begins and ends with it
	respond  bool
	full     bool // the limit of the body, the recovery and the access log
	returned bool
}

// handle calls the handlers and sees to it that there is an answer.
func (t *turn) handle() {
	if t.full {
		t.limit()
	}
	t.c.Next()
	if t.respond {
		t.answer()
	}
	t.returned = true
}

// end runs when the handlers have returned or panicked.
func (t *turn) end() {
	aborted, panics := !t.returned, false // without a panic it is runtime.Goexit, which goes on
	if aborted && t.full {
		if v := recover(); v != nil {
			panics = t.recovered(v)
			aborted = panics
		}
	}
	if t.full {
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
func (ex *exchange) limit() {
	limit := ex.server.MaxBodyBytes
	if own, ok := ex.server.RouteMaxBodyBytes[ex.c.FullPath()]; ok {
		limit = own
	}
	req := ex.c.Request
	counted := ex.countBody(limit)
	switch {
	case counted && !ex.server.bodies.has(req.ContentLength):
		ex.refuse(overloaded())
	case limit < 0 || req.ContentLength >= 0 && req.ContentLength <= limit: // the server reads no more than the declared length
	case req.ContentLength < 0:
		req.Body = http.MaxBytesReader(innermost(ex.c.Writer), req.Body, limit)
	default:
		message := xerror.ErrMessage("at most " + strconv.FormatInt(limit, 10) + " bytes are accepted")
		ex.refuse(xerror.Wrap(xerror.PayloadTooLarge, message, &http.MaxBytesError{Limit: limit}))
	}
}

// refuse answers with err instead of calling the last handler.
func (ex *exchange) refuse(err error) {
	ex.refused = err
	ex.c.Request.Body = refusedBody{err}
	dropHandler(ex.c)
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
