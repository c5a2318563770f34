package xhelper

import (
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// serve is the middleware. The exchange begins and ends with the outermost one, which has
// its configuration until that of Serve takes over. What a middleware around this one
// does, this one does not do again.
func (s *server) serve(c *gin.Context) {
	ex := exchangeOf(c)
	// by gin's HandleContext, which also ends the response
	restarted := ex != nil && c.Writer == ex.writer.ResponseWriter
	switch {
	case ex == nil:
		ex = s.begin(c)
		defer ex.close()
	case restarted:
		c.Writer = &ex.writer
	}
	answers := s.does >= contextAndAnswers && (restarted || !ex.responds)
	ex.responds = ex.responds || answers
	returned := false
	if s.does == everything && !ex.served {
		ex.server, ex.served = s, true
		ex.request.SetAccessLog()
		defer ex.finish(&returned)
		ex.limit()
	}
	c.Next()
	if answers {
		ex.answer()
	}
	returned = true
}

// finish is deferred. It recovers from a panic and writes the line of the access log. If
// the handlers have not returned, and there is no panic, it is runtime.Goexit, which goes
// on.
func (ex *exchange) finish(returned *bool) {
	v := recover()
	abort := v != nil && ex.recovered(v)
	ex.access(abort || v == nil && !*returned)
	if abort {
		panic(http.ErrAbortHandler)
	}
}

// limit enforces the limit of the body. If the declared length is over it, the middleware
// of the application runs, and sees that, but not the last handler of the route.
func (ex *exchange) limit() {
	limit := ofRoute(ex.c, ex.server.RouteMaxBodyBytes, ex.server.MaxBodyBytes)
	req := ex.c.Request
	counted := ex.countBody(limit)
	switch {
	case counted && !ex.server.bodies.has(req.ContentLength):
		ex.refuse(overloaded())
	// the server reads no more than the declared length
	case limit < 0 || req.ContentLength >= 0 && req.ContentLength <= limit:
	case req.ContentLength < 0:
		req.Body = http.MaxBytesReader(innermost(ex.c.Writer), req.Body, limit)
	default:
		message := xerror.ErrMessage("at most " + strconv.FormatInt(limit, 10) +
			" bytes are accepted")
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

// innermost returns the server's own writer: it is the one that http.MaxBytesReader can
// tell to close the connection.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	if outer, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
		return innermost(outer.Unwrap())
	}
	return w
}
