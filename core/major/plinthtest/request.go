package plinthtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xbase"
)

// RequestOption changes a request before it is sent.
type RequestOption func(*http.Request)

// WithHeader sets a header.
func WithHeader(name, value string) RequestOption {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// WithContext sets the context of the request.
func WithContext(ctx context.Context) RequestOption {
	return func(r *http.Request) { *r = *r.WithContext(ctx) }
}

// Request sends a request through the engine and returns its response.
//
// Request sends a string, []byte or io.Reader unchanged, url.Values as a form, and any
// other value as JSON. A nil body means no body. The content type is application/json,
// except for a form, unless an option sets it.
func (a *App) Request(method, path string, body any, opts ...RequestOption) *Response {
	a.tb.Helper()
	reader, contentType := a.encode(body)
	r := httptest.NewRequestWithContext(a.tb.Context(), method, path, reader)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for _, opt := range opts {
		opt(r)
	}
	w := httptest.NewRecorder()
	a.reg.Serve.ServeHTTP(w, r)
	return &Response{
		tb: a.tb, status: w.Code, header: w.Header(), body: w.Body.Bytes(),
		request: method + " " + path,
	}
}

// encode returns the encoded body and its content type.
func (a *App) encode(body any) (r io.Reader, contentType string) {
	a.tb.Helper()
	const inJSON = "application/json"
	switch b := body.(type) {
	case nil:
		return http.NoBody, ""
	case string:
		return strings.NewReader(b), inJSON
	case []byte:
		return bytes.NewReader(b), inJSON
	case io.Reader:
		return b, inJSON
	case url.Values:
		return strings.NewReader(b.Encode()), "application/x-www-form-urlencoded"
	default:
		text, err := json.Marshal(b)
		if err != nil {
			a.tb.Fatalf("plinthtest: body: %v", err)
		}
		return bytes.NewReader(text), inJSON
	}
}

// Response is the response to a request. The methods that read the envelope fail the test
// if the body is not an envelope.
type Response struct {
	tb      testing.TB
	request string
	status  int
	header  http.Header
	body    []byte
}

// Status returns the HTTP status.
func (r *Response) Status() int { return r.status }

// Header returns the headers.
func (r *Response) Header() http.Header { return r.header }

// Body returns the body.
func (r *Response) Body() string { return string(r.body) }

// Envelope returns the envelope of any profile, with its data decoded by encoding/json.
func (r *Response) Envelope() xbase.BaseResponse {
	r.tb.Helper()
	return r.decode(nil)
}

// Code returns the number in the envelope: 200 or the number of an error code.
func (r *Response) Code() int { r.tb.Helper(); return r.Envelope().Code }

// Output returns the label in the envelope: "Success" or the label of an error code.
func (r *Response) Output() string { r.tb.Helper(); return r.Envelope().Output }

// Message returns the message in the envelope.
func (r *Response) Message() string { r.tb.Helper(); return r.Envelope().Message }

// ErrorMessage returns the error message in the envelope, or "".
func (r *Response) ErrorMessage() string { r.tb.Helper(); return r.Envelope().ErrorMessage }

// RequestID returns the request ID in the envelope.
func (r *Response) RequestID() string { r.tb.Helper(); return r.Envelope().Context }

// Into decodes the data of the envelope into target, a pointer.
func (r *Response) Into(target any) {
	r.tb.Helper()
	if target == nil {
		r.tb.Fatalf("plinthtest: %s: Into(nil)", r.request)
	}
	r.decode(target)
}

// JSON decodes the whole body into target, a pointer. Use it for responses without an
// envelope.
func (r *Response) JSON(target any) {
	r.tb.Helper()
	if err := json.Unmarshal(r.body, target); err != nil {
		r.tb.Fatalf("plinthtest: %s: %d: %v in %q", r.request, r.status, err, r.body)
	}
}

func (r *Response) decode(target any) xbase.BaseResponse {
	r.tb.Helper()
	envelope := xbase.BaseResponse{Data: target}
	if err := json.Unmarshal(r.body, &envelope); err != nil {
		r.tb.Fatalf("plinthtest: %s: %d: %v in %q", r.request, r.status, err, r.body)
	}
	if envelope.Output == "" || envelope.Code == 0 {
		r.tb.Fatalf("plinthtest: %s: %d: no envelope in %q", r.request, r.status, r.body)
	}
	return envelope
}
