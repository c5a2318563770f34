package xerror

import (
	"cmp"
	"context"
	"net/http"
	"reflect"

	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

const (
	// ContentTypeProblem is the media type of a Problem.
	ContentTypeProblem = "application/problem+json"

	// aboutBlank is the type of a problem without semantics beyond its status (RFC 9457,
	// section 4.2.1).
	aboutBlank = "about:blank"

	// uuidNamespace is the URN prefix of UUIDs (RFC 9562, section 4).
	uuidNamespace = "urn:uuid:"

	// uuidLength is the length of a UUID with dashes, the only form that a URN permits.
	uuidLength = 36
)

// Problem is an error in the format of RFC 9457. Code, Output, Context and Data are
// extension members with the same meaning as in the envelope.
type Problem struct {
	// Type is "about:blank". Status and Code identify the kind of problem.
	Type string `json:"type"`
	// Title is the text of the status, or the code's message if the status has no text.
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Detail is the developer's message, or the code's message.
	Detail string `json:"detail"`
	// Instance is the request ID as a URN, or "" if it is not a UUID.
	Instance string `json:"instance,omitempty"`
	// Code is the number of the error code.
	Code int `json:"code"`
	// Output is the label of the error code.
	Output string `json:"output"`
	// Context is the request ID.
	Context string `json:"context"`
	// Data is the payload. It is absent if it is nil or a nil pointer, map or slice.
	Data any `json:"data,omitempty"`
}

// Problem returns the error as RFC 9457 problem details, in the client's language.
func (e *Error) Problem(ctx context.Context) Problem {
	code := e.GetErrorCode()
	message := code.Message(Language(ctx))
	p := Problem{
		Type:    aboutBlank,
		Title:   cmp.Or(http.StatusText(code.Status()), message),
		Status:  code.Status(),
		Detail:  cmp.Or(string(e.GetErrorMessage()), message),
		Code:    code.GetCode(),
		Output:  code.GetOutput(),
		Context: xctx.RequestID(ctx),
		Data:    e.GetData(),
	}
	data := reflect.ValueOf(p.Data)
	if k := data.Kind(); (k == reflect.Pointer || k == reflect.Map || k == reflect.Slice) &&
		data.IsNil() {
		p.Data = nil // absent, as in the envelope
	}
	if len(p.Context) == uuidLength && uuid.Validate(p.Context) == nil {
		p.Instance = uuidNamespace + p.Context
	}
	return p
}
