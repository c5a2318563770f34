package xhelper

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xHttp "github.com/plinthgo/plinth/core/major/xhttp"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

// respond answers where the handlers have not.
func (r *run) respond() {
	if r.answered {
		return
	}
	r.answered = true
	c, w := r.c, &r.writer
	err := lastError(c)
	if w.committed() {
		if err != nil {
			r.log.Warn(&r.request, "an error came after the response had been started", slog.Any("error", err))
		}
		return
	}
	c.Writer = w // whatever a middleware put in its place has done its work
	held := w.release()
	status := w.Status()
	switch {
	case err != nil:
		r.uncode()
		fail(c, status, held, err)
	case status >= http.StatusBadRequest:
		r.uncode()
		xResult.FailStatus(c, status, xError.New(bareCode(c, status), ""))
	case status != http.StatusOK || r.c.Request.Method == http.MethodHead:
		// An answer without a body: 204, 303, 304 and the like.
	default:
		r.uncode()
		r.missing()
	}
}

// uncode takes back the Content-Encoding of a middleware inside this one, which will not encode the
// answer that is written now.
func (r *run) uncode() {
	if !r.encoded {
		delete(r.writer.Header(), string(xHttp.ContentEncoding))
	}
}

// missing answers a request whose handlers wrote nothing and set nothing.
func (r *run) missing() {
	if err := r.c.Request.Context().Err(); err != nil {
		xResult.Fail(r.c, err) // they gave up because the request was over
		return
	}
	r.log.Warn(&r.request, "the handler gave no answer", slog.String("handler", r.c.HandlerName()))
	xResult.Fail(r.c, xError.New(xError.DeveloperError, "the handler gave no answer"))
}

// lastError returns the last error in c.Errors, or nil. A nil *xError.Error is none.
func lastError(c *gin.Context) error {
	for _, e := range slices.Backward(c.Errors) {
		if xError.From(e.Err) != nil {
			return e.Err
		}
	}
	return nil
}

// fail answers with err. A status that the handler has chosen for an error nobody knows, as in
// c.AbortWithError(400, err), says more than SERVER_INTERNAL_ERROR.
func fail(c *gin.Context, status int, held bool, err error) {
	chosen := held || status >= http.StatusBadRequest && c.FullPath() != ""
	if chosen && !isOwn(err) && xError.From(err).GetErrorCode() == xError.ServerInternalError {
		xResult.FailStatus(c, status, xError.Wrap(xError.ForStatus(status), "", err))
		return
	}
	xResult.Fail(c, err)
}

// isOwn reports whether the handler said itself what kind of error it is.
func isOwn(err error) bool {
	var own *xError.Error
	return errors.As(err, &own)
}

// bareCode returns the code for a status that stands alone.
func bareCode(c *gin.Context, status int) *xError.ErrorCode {
	if status == http.StatusNotFound && c.FullPath() == "" {
		return xError.PageNotFound
	}
	return xError.ForStatus(status)
}
