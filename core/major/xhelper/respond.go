package xhelper

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/major/xhttp"
	"github.com/plinthgo/plinth/core/major/xresult"
)

// answer answers where the handlers have not.
func (ex *exchange) answer() {
	if ex.answered {
		return
	}
	ex.answered = true
	if ex.writer.committed() {
		if err := lastError(ex.c); err != nil {
			ex.server.Log.Warn(&ex.request, "an error came after the response had been started",
				slog.Any("error", err))
		}
		return
	}
	ex.c.Writer = &ex.writer // whatever a middleware put in its place has done its work
	if status, err := ex.outcome(); err != nil {
		ex.fail(status, err)
	}
}

// fail writes the answer for err, not through what a middleware put in place of the
// writer. The Content-Encoding of a middleware inside this one will not encode the
// answer.
func (ex *exchange) fail(status int, err error) {
	ex.c.Writer = &ex.writer
	ex.writer.held = false
	if !ex.encoded {
		delete(ex.writer.Header(), string(xhttp.ContentEncoding))
	}
	xresult.FailStatus(ex.c, status, err)
}

// outcome returns what answer writes if nothing else is written: an error, maybe with a
// status that the handler has chosen, or a status alone if err is nil.
func (ex *exchange) outcome() (status int, err error) {
	c := ex.c
	status = ex.writer.ResponseWriter.Status()
	err = lastError(c)
	switch {
	case err != nil:
		return chosen(c, status, ex.writer.held, err)
	case ex.refused != nil:
		return 0, ex.refused
	case status == http.StatusNotFound && c.FullPath() == "":
		return status, xerror.New(xerror.PageNotFound, "")
	case status >= http.StatusBadRequest:
		return status, xerror.New(xerror.ForStatus(status), "")
	case status != http.StatusOK || c.Request.Method == http.MethodHead:
		return status, nil // a response without a body: 204, 303, 304 and the like
	}
	// The handlers wrote nothing and set nothing.
	if err := c.Request.Context().Err(); err != nil {
		return 0, err // they returned because the request was over
	}
	cause := errors.New("handler " + c.HandlerName())
	return 0, xerror.Wrap(xerror.DeveloperError, "the handler gave no answer", cause)
}

// lastError returns the last error in c.Errors, or nil. A nil *xerror.Error is none.
func lastError(c *gin.Context) error {
	for _, e := range slices.Backward(c.Errors) {
		if xerror.From(e.Err) != nil {
			return e.Err
		}
	}
	return nil
}

// chosen returns err with the status for it, 0 for that of its code. A status that the
// handler has chosen for an unknown error, as in c.AbortWithError(400, err), says more
// than SERVER_INTERNAL_ERROR.
func chosen(c *gin.Context, status int, held bool, err error) (int, error) {
	own := held || status >= http.StatusBadRequest && c.FullPath() != ""
	// the handler said itself what kind of error it is
	_, coded := errors.AsType[*xerror.Error](err)
	if own && !coded && xerror.From(err).GetErrorCode() == xerror.ServerInternalError {
		return status, xerror.Wrap(xerror.ForStatus(status), "", err)
	}
	return 0, err
}
