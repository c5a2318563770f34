package xhelper

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// serve is the middleware. The outermost middleware starts and closes the exchange. The
// configuration of that middleware applies until Serve runs. Each feature is applied
// once.
func (s *server) serve(c *gin.Context) {
	ex := exchangeOf(c)
	// gin's HandleContext has restarted the chain; this run also completes the response
	restarted := ex != nil && c.Writer == ex.writer.ResponseWriter
	switch {
	case ex == nil:
		ex = s.start(c)
		defer ex.close()
	case restarted:
		c.Writer = &ex.writer
	}
	respond := s.scope >= contextAndResponse && (restarted || !ex.responds)
	ex.responds = ex.responds || respond
	returned := false
	if s.scope == allFeatures && !ex.served {
		ex.server, ex.served = s, true
		ex.request.SetAccessLog()
		defer ex.finish(&returned)
		ex.limit()
	}
	c.Next()
	if respond {
		ex.respond()
	}
	returned = true
}

// finish recovers from a panic and writes the access log. It must be deferred. If the
// handlers neither returned nor panicked, a handler called runtime.Goexit, which
// continues.
func (ex *exchange) finish(returned *bool) {
	v := recover()
	abort := v != nil && ex.handlePanic(v)
	ex.logAccess(abort || v == nil && !*returned)
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// limit enforces the body limit. If the declared length exceeds it, middleware of the
// application runs and sees the status, but the last handler of the route does not run.
func (ex *exchange) limit() {
	limit := routeSetting(ex.c, ex.server.RouteMaxBodyBytes, ex.server.MaxBodyBytes)
	req := ex.c.Request
	counted := ex.countBody(limit)
	switch {
	case counted && !ex.server.bodies.hasRoom(req.ContentLength):
		ex.reject(overloaded())
	// the server does not read beyond the declared length
	case limit < 0 || req.ContentLength >= 0 && req.ContentLength <= limit:
	case req.ContentLength < 0:
		req.Body = http.MaxBytesReader(innermost(ex.c.Writer), req.Body, limit)
	default:
		message := xerror.ErrMessage("at most " + strconv.FormatInt(limit, 10) +
			" bytes are accepted")
		ex.reject(xerror.Wrap(xerror.PayloadTooLarge, message, &http.MaxBytesError{Limit: limit}))
	}
}

// reject responds with err instead of calling the last handler.
func (ex *exchange) reject(err error) {
	ex.rejected = err
	ex.c.Request.Body = rejectedBody{err}
	dropHandler(ex.c)
}

type rejectedBody struct{ err error }

func (b rejectedBody) Read([]byte) (int, error) { return 0, b.err }

// Close does nothing, because the server closes the original body.
func (rejectedBody) Close() error { return nil }

// innermost returns the writer of the server, which http.MaxBytesReader uses to close the
// connection.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return innermost(outer.Unwrap())
	}
	return w
}
