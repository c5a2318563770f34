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

const (
	mimeJSON    = "application/json"
	mimeProblem = xerror.ContentTypeProblem
)

// Fail answers with any error; xerror.From says with which code. A nil error is no answer.
//
// The client gets the envelope in the profile of the request, or application/problem+json where its
// Accept header names that at least as much as application/json. The cause of a server's error goes
// to the log and nowhere else.
func Fail(c *gin.Context, err error) { FailStatus(c, 0, err) }

// FailStatus is Fail with another HTTP status than the code's, such as 412 or 451, for which the
// catalogue has only a general code. A status outside 400 to 599 stands for the code's own.
func FailStatus(c *gin.Context, status int, err error) {
	e := xerror.From(err)
	if e == nil || refuse(c) {
		return
	}
	f := newFailure(because(contextOf(c), e), requestOrNew(c), status)
	f.log(contextOf(c))
	cleanHeader(c.Writer.Header())

	b := getBuffer()
	contentType, problem := typeJSON, wantsProblem(c)
	if problem {
		contentType = typeProblem
	}
	body := f.append((*b)[:0], problem)
	write(c, f.status, contentType, body)
	putBuffer(b, body)
}

// StatusOf returns the HTTP status that FailStatus writes, 0 for a nil error.
func StatusOf(c *gin.Context, status int, err error) int {
	e := xerror.From(err)
	if e == nil {
		return 0
	}
	return statusOf(status, because(contextOf(c), e), profileOf(request(c)))
}

func statusOf(status int, e *xerror.Error, p xbase.Profile) int {
	if http.StatusBadRequest <= status && status <= maxStatus {
		return status
	}
	return e.Status(p)
}

// because returns the error with which the service has ended the request's context, where e says no more
// than that it has ended: a request that is cut off at the stop is not the client's fault.
func because(ctx context.Context, e *xerror.Error) *xerror.Error {
	if ctx.Err() == nil || !errors.Is(e, context.Canceled) || e.GetErrorCode() != xerror.Canceled {
		return e
	}
	var why *xerror.Error
	if !errors.As(context.Cause(ctx), &why) {
		return e
	}
	return why
}

// maxStatus is the last HTTP status that is defined (RFC 9110, section 15).
const maxStatus = 599

// failure is an error on its way to the client of a request.
type failure struct {
	err    *xerror.Error
	req    *xctx.Request
	status int
}

// newFailure returns the failure of e, which has another status than that of its code if that is an error's.
func newFailure(e *xerror.Error, req *xctx.Request, status int) failure {
	code := e.GetErrorCode()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = code.Message(xerror.Language(req))
	}
	req.Fail(code.GetCode(), message)
	return failure{err: e, req: req, status: statusOf(status, e, profileOf(req))}
}

// log writes what the client does not receive. A failure has one line at ERROR: this one, after which
// that of the access log is at INFO, or that of the access log if there is nothing to add.
func (f *failure) log(ctx context.Context) {
	attrs := f.attrs()
	switch {
	case f.err.Logged():
		if f.err.LoggedAtError() {
			f.req.Report()
		}
	case f.err.GetErrorCode().Status() < http.StatusInternalServerError: // whatever the profile reports
		logger.Debug(ctx, "the request was refused", attrs[:]...)
	case f.req.Reported(): // a panic
	case f.req.HasAccessLog() && f.status >= http.StatusInternalServerError && len(f.err.Unwrap()) == 1: // no cause to add
	default:
		f.req.Report()
		logger.Error(ctx, "the request failed", attrs[:]...)
	}
}

func (f *failure) attrs() [3]slog.Attr {
	code := f.err.GetErrorCode()
	return [...]slog.Attr{
		slog.Int("code", code.GetCode()), slog.String("output", code.GetOutput()), slog.Any("error", f.err),
	}
}

// append appends the envelope, or the problem details (RFC 9457). Data that cannot be encoded turns the
// failure into SERIALIZE_ERROR, which has no data and can always be encoded.
func (f *failure) append(dst []byte, problem bool) []byte {
	out, err := f.encode(dst, problem)
	if err == nil {
		return out
	}
	*f = newFailure(xerror.Wrap(xerror.SerializeError, "", err), f.req, 0)
	f.req.Report()
	attrs := f.attrs()
	logger.Error(f.req, "the response cannot be encoded", attrs[:]...)
	out, _ = f.encode(dst, problem)
	return out
}

func (f *failure) encode(dst []byte, problem bool) ([]byte, error) {
	if !problem {
		p := profileOf(f.req)
		_, r := f.err.Response(f.req, p)
		return r.AppendJSON(dst, p)
	}
	details := f.err.Problem(f.req)
	if details.Status != f.status {
		details.Status, details.Title = f.status, http.StatusText(f.status)
	}
	return xbase.AppendValue(dst, details)
}

// wantsProblem reports whether the client asks for problem details. A wildcard does not: it is what a
// client sends that has never heard of them.
func wantsProblem(c *gin.Context) bool {
	accept := sent(c, xhttp.Accept)
	weight, closeness := quality(accept, mimeProblem)
	if closeness != namedExactly || weight == 0 {
		return false
	}
	other, _ := quality(accept, mimeJSON)
	return weight >= other
}

// varyOfErrors is the value of Vary where there is no other, shared by all responses: it has no room for
// another value, so that whoever adds one gets a copy.
var varyOfErrors = []string{"Accept, Accept-Language"}

// cleanHeader takes back what the handler said about an answer that it did not give.
func cleanHeader(h http.Header) {
	for _, name := range [...]string{string(xhttp.ContentDisposition), string(xhttp.ETag), string(xhttp.LastModified)} {
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
