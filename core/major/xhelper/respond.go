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

// respond writes the response if the handlers have not.
func (ex *exchange) respond() {
	if ex.responded {
		return
	}
	ex.responded = true
	if ex.writer.committed() {
		if err := lastError(ex.c); err != nil {
			ex.server.Log.Warn(&ex.request, "error after the response started",
				slog.Any("error", err))
		}
		return
	}
	ex.c.Writer = &ex.writer // replaces a writer that middleware did not remove
	if status, err := ex.outcome(); err != nil {
		ex.fail(status, err)
	}
}

// fail writes the response for err directly, not through the writer of an inner
// middleware. It therefore removes the Content-Encoding of such a middleware.
func (ex *exchange) fail(status int, err error) {
	ex.c.Writer = &ex.writer
	ex.writer.delayed = false
	if !ex.encoded {
		delete(ex.writer.Header(), string(xhttp.ContentEncoding))
	}
	xresult.FailStatus(ex.c, status, err)
}

// outcome returns the response to write if the handlers write nothing: an error, with a
// status if the handler chose one, or only a status.
func (ex *exchange) outcome() (status int, err error) {
	c := ex.c
	status = ex.writer.ResponseWriter.Status()
	err = lastError(c)
	switch {
	case err != nil:
		return withStatus(c, status, ex.writer.delayed, err)
	case ex.rejected != nil:
		return 0, ex.rejected
	case status == http.StatusNotFound && c.FullPath() == "":
		return status, xerror.New(xerror.PageNotFound, "")
	case status >= http.StatusBadRequest:
		return status, xerror.New(xerror.ForStatus(status), "")
	case status != http.StatusOK || c.Request.Method == http.MethodHead:
		return status, nil // no body: 204, 303, 304 and others
	}
	// The handlers neither wrote a response nor set a status.
	if err := c.Request.Context().Err(); err != nil {
		return 0, err // the request was canceled or timed out
	}
	cause := errors.New("handler " + c.HandlerName())
	return 0, xerror.Wrap(xerror.DeveloperError, "the handler wrote no response", cause)
}

// lastError returns the last error in c.Errors, or nil. It ignores a nil *xerror.Error.
func lastError(c *gin.Context) error {
	for _, e := range slices.Backward(c.Errors) {
		if xerror.From(e.Err) != nil {
			return e.Err
		}
	}
	return nil
}

// withStatus returns err and its status, or the status 0 if the error code determines it.
// If the handler set a status for an unknown error, as in c.AbortWithError(400, err),
// withStatus uses that status instead of SERVER_INTERNAL_ERROR.
func withStatus(c *gin.Context, status int, delayed bool, err error) (int, error) {
	statusSet := delayed || status >= http.StatusBadRequest && c.FullPath() != ""
	_, hasCode := errors.AsType[*xerror.Error](err)
	if statusSet && !hasCode && xerror.From(err).GetErrorCode() == xerror.ServerInternalError {
		return status, xerror.Wrap(xerror.ForStatus(status), "", err)
	}
	return 0, err
}
