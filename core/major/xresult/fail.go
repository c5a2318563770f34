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
	e = because(contextOf(c), e)
	req := requestOrNew(c)
	f := newFailure(e, req)
	f.log(contextOf(c))
	f.status = statusOf(status, e, profileOf(req))
	cleanHeader(c.Writer.Header())

	b := getBuffer()
	contentType, body := typeJSON, (*b)[:0]
	if wantsProblem(c) {
		contentType = typeProblem
		body = f.appendProblem(body)
	} else {
		body = f.appendEnvelope(body)
	}
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

func newFailure(e *xerror.Error, req *xctx.Request) failure {
	code := e.GetErrorCode()
	message := string(e.GetErrorMessage())
	if message == "" {
		message = code.Message(xerror.Language(req))
	}
	req.Fail(code.GetCode(), message)
	return failure{err: e, req: req, status: e.Status(profileOf(req))}
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

// appendEnvelope appends the envelope. Data that cannot be encoded turns the failure into SERIALIZE_ERROR.
func (f *failure) appendEnvelope(dst []byte) []byte {
	p := profileOf(f.req)
	out, err := f.tryEnvelope(dst, p)
	if err != nil {
		f.replace(err)
		out, _ = f.tryEnvelope(dst, p)
	}
	return out
}

func (f *failure) tryEnvelope(dst []byte, p xbase.Profile) ([]byte, error) {
	_, r := f.err.Response(f.req, p)
	return r.AppendJSON(dst, p)
}

// appendProblem appends problem details (RFC 9457), with the same care.
func (f *failure) appendProblem(dst []byte) []byte {
	out, err := f.tryProblem(dst)
	if err != nil {
		f.replace(err)
		out, _ = f.tryProblem(dst)
	}
	return out
}

func (f *failure) tryProblem(dst []byte) ([]byte, error) {
	p := f.err.Problem(f.req)
	if p.Status != f.status {
		p.Status, p.Title = f.status, http.StatusText(f.status)
	}
	return xbase.AppendValue(dst, p)
}

// replace makes the failure one of encoding, whose envelope holds no data and can always be encoded.
func (f *failure) replace(err error) {
	*f = newFailure(xerror.Wrap(xerror.SerializeError, "", err), f.req)
	f.req.Report()
	attrs := f.attrs()
	logger.Error(f.req, "the response cannot be encoded", attrs[:]...)
}

// wantsProblem reports whether the client asks for problem details. A wildcard does not: it is what a
// client sends that has never heard of them.
func wantsProblem(c *gin.Context) bool {
	if c.Request == nil {
		return false
	}
	accept := c.Request.Header[string(xhttp.Accept)]
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
		if len(h[name]) > 0 { // to look costs less than to delete
			delete(h, name)
		}
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
