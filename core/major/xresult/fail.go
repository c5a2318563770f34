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

// Fail answers with any error; xerror.From says with which code. A nil error is no
// answer.
//
// The client gets the envelope in the profile of the request, or application/problem+json
// where its Accept header names that at least as much as application/json. The cause of a
// server's error goes to the log and nowhere else.
func Fail(c *gin.Context, err error) { FailStatus(c, 0, err) }

// FailStatus is Fail with another HTTP status than the code's, such as 412 or 451, for
// which the catalogue has only a general code. A status outside 400 to 599 stands for the
// code's own.
func FailStatus(c *gin.Context, status int, err error) {
	e := errorOf(c, err)
	if e == nil || refuse(c) {
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
		cleanHeader(c.Writer.Header())
		write(c, f.status, contentType, body)
	}
	putBuffer(b, body)
	if err != nil {
		Fail(c, err)
	}
}

// StatusOf returns the HTTP status that FailStatus writes, 0 for a nil error.
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

// errorOf returns err as the client gets it, nil for nil. If err says only that the
// context of the request has ended, it is the error with which the service has ended the
// context, if there is one: a request that is cut off at the stop is not the client's
// fault.
func errorOf(c *gin.Context, err error) *xerror.Error {
	e, ctx := xerror.From(err), contextOf(c)
	if e == nil || ctx.Err() == nil || !errors.Is(e, context.Canceled) ||
		e.GetErrorCode() != xerror.Canceled {
		return e
	}
	if why, ok := errors.AsType[*xerror.Error](context.Cause(ctx)); ok {
		return why
	}
	return e
}

// maxStatus is the last HTTP status that is defined (RFC 9110, section 15).
const maxStatus = 599

// failure is an error on its way to the client of a request.
type failure struct {
	err    *xerror.Error
	req    *xctx.Request
	status int
}

// newFailure returns the failure of e, which has another status than that of its code if
// that is an error's.
func newFailure(e *xerror.Error, req *xctx.Request, status int) failure {
	code := e.GetErrorCode()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = code.Message(xerror.Language(req))
	}
	req.Fail(code.GetCode(), message)
	return failure{err: e, req: req, status: statusOf(status, e, profileOf(req))}
}

// log writes what the client does not receive. A failure has one line at ERROR: this one,
// after which that of the access log is at INFO, or that of the access log if there is
// nothing to add.
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
	case code.Status() < http.StatusInternalServerError: // whatever the profile reports
		logger.Debug(ctx, "the request was refused", attrs...)
	case f.req.Reported(): // a panic
	// no cause to add
	case f.req.HasAccessLog() && f.status >= http.StatusInternalServerError &&
		len(f.err.Unwrap()) == 1:
	default:
		f.req.Report()
		logger.Error(ctx, "the request failed", attrs...)
	}
}

// append appends the envelope, or the problem details (RFC 9457). If the data of the
// failure cannot be encoded, the error is a SerializeError, which has no data and can be
// encoded.
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

// wantsProblem reports whether the client asks for problem details. A wildcard does not:
// it is what a client sends that has never heard of them.
func wantsProblem(c *gin.Context) bool {
	accept := sent(c, xhttp.Accept)
	weight, closeness := quality(accept, xerror.ContentTypeProblem)
	if closeness != namedExactly || weight == 0 {
		return false
	}
	other, _ := quality(accept, "application/json")
	return weight >= other
}

// varyOfErrors is the value of Vary where there is no other, shared by all responses: it
// has no room for another value, so that whoever adds one gets a copy.
var varyOfErrors = []string{"Accept, Accept-Language"}

// cleanHeader takes back what the handler said about an answer that it did not give.
func cleanHeader(h http.Header) {
	for _, name := range [...]string{
		string(xhttp.ContentDisposition), string(xhttp.ETag),
		string(xhttp.LastModified),
	} {
		delete(h, name)
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
