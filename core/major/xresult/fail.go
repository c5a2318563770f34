package xresult

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhttp"
)

// Fail writes the response for an error, with the code of xerror.From. It does nothing if
// err is nil.
//
// The client receives the envelope in the profile of the request. It receives
// application/problem+json if its Accept header names that with at least the weight of
// application/json. The cause of a server error is only logged.
func Fail(c *gin.Context, err error) { FailStatus(c, 0, err) }

// FailStatus is like Fail but writes status instead of the HTTP status of the code. Use
// it for a status without a specific code, such as 412 or 451. If status is not from 400
// to 599, FailStatus writes the status of the code.
func FailStatus(c *gin.Context, status int, err error) {
	e := errorOf(c, err)
	if e == nil || isWritten(c) {
		return
	}
	f := newFailure(e, requestOf(c), status)
	contentType, problem := typeJSON, wantsProblem(c)
	if problem {
		contentType = typeProblem
	}
	b := buffers.Get().(*[]byte)
	body, err := f.append((*b)[:0], problem)
	if err == nil {
		f.log(contextOf(c))
		cleanHeader(c.Writer.Header(), f.status)
		write(c, f.status, contentType, body)
	}
	putBuffer(b, body)
	if err != nil {
		Fail(c, err)
	}
}

// StatusOf returns the HTTP status that FailStatus writes, or 0 for a nil error.
func StatusOf(c *gin.Context, status int, err error) int {
	e := errorOf(c, err)
	if e == nil {
		return 0
	}
	return statusOf(status, e, profileOf(requestOf(c)))
}

func statusOf(status int, e *xerror.Error, p xbase.Profile) int {
	if http.StatusBadRequest <= status && status <= maxStatus {
		return status
	}
	return e.Status(p)
}

// errorOf returns err as the client receives it, or nil. If err only reports that the
// request's context was canceled, and the service canceled it with a cause, errorOf
// returns the cause: a request canceled by a shutdown is not a client error.
func errorOf(c *gin.Context, err error) *xerror.Error {
	e, ctx := xerror.From(err), contextOf(c)
	if e == nil || ctx.Err() == nil || !errors.Is(e, context.Canceled) ||
		e.GetErrorCode() != xerror.Canceled {
		return e
	}
	if cause, ok := errors.AsType[*xerror.Error](context.Cause(ctx)); ok {
		return cause
	}
	return e
}

// maxStatus is the largest valid HTTP status (RFC 9110, section 15).
const maxStatus = 599

type failure struct {
	err    *xerror.Error
	req    *xctx.Request
	status int
}

// newFailure returns the failure for e. status overrides the status of the code if it is
// an error status.
func newFailure(e *xerror.Error, req *xctx.Request, status int) failure {
	code := e.GetErrorCode()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = code.Message(xerror.Language(req))
	}
	req.Fail(code.GetCode(), message)
	return failure{err: e, req: req, status: statusOf(status, e, profileOf(req))}
}

// log logs what the client does not receive. Each failure has one line at ERROR: this
// line, or the line of the access log if there is no cause to add.
func (f *failure) log(ctx context.Context) {
	code := f.err.GetErrorCode()
	attrs := []slog.Attr{
		slog.Int("code", code.GetCode()), slog.String("output", code.GetOutput()),
		slog.Any("error", f.err),
	}
	switch {
	case f.err.Logged():
		if f.err.LoggedAtError() {
			f.req.Report()
		}
	case code.Status() < http.StatusInternalServerError: // independent of the profile
		logger.Debug(ctx, "request rejected", attrs...)
	case f.req.Reported(): // a panic was logged
	case f.req.HasAccessLog() && f.status >= http.StatusInternalServerError &&
		len(f.err.Unwrap()) == 1: // no cause to log
	default:
		f.req.Report()
		logger.Error(ctx, "request failed", attrs...)
	}
}

// append appends the envelope, or the problem details (RFC 9457). If the data cannot be
// encoded, it returns a SerializeError, which has no data.
func (f *failure) append(dst []byte, problem bool) (out []byte, err error) {
	if problem {
		details := f.err.Problem(f.req)
		if details.Status != f.status {
			details.Status, details.Title = f.status, http.StatusText(f.status)
		}
		out, err = xbase.AppendValue(dst, details)
	} else {
		p := profileOf(f.req)
		_, r := f.err.Response(f.req, p)
		out, err = r.AppendJSON(dst, p)
	}
	if err != nil {
		return dst, xerror.Wrap(xerror.SerializeError, "", errors.Join(err, f.err))
	}
	return out, nil
}

// wantsProblem reports whether the client requests problem details explicitly. A wildcard
// does not count, because clients that do not support problem details send it.
func wantsProblem(c *gin.Context) bool {
	accept := requestHeader(c, xhttp.Accept)
	weight, precision := quality(accept, xerror.ContentTypeProblem)
	if precision != namedExactly || weight == 0 {
		return false
	}
	other, _ := quality(accept, "application/json")
	return weight >= other
}

// varyOfErrors is the shared value of Vary. It has no spare capacity, so appending to it
// makes a copy.
var varyOfErrors = []string{"Accept, Accept-Language"}

// cleanHeader removes headers that the handler set for another response. Content-Range
// contains the size of the file if the range is not satisfiable.
func cleanHeader(h http.Header, status int) {
	for _, name := range [...]string{
		string(xhttp.ContentDisposition), string(xhttp.ETag), string(xhttp.LastModified),
		"Accept-Ranges",
	} {
		delete(h, name)
	}
	if status != http.StatusRequestedRangeNotSatisfiable {
		delete(h, "Content-Range")
	}
	if len(h[string(xhttp.CacheControl)]) > 0 {
		xhttp.CacheControl.Set(h, "no-store")
	}
	if before := h[string(xhttp.Vary)]; len(before) > 0 {
		h[string(xhttp.Vary)] = append(before, varyOfErrors...)
	} else {
		h[string(xhttp.Vary)] = varyOfErrors
	}
}
