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

	// blank is the type of a problem that says no more than its status (RFC 9457, section
	// 4.2.1).
	blank = "about:blank"

	// uuidNamespace makes a URI of a UUID (RFC 9562, section 4).
	uuidNamespace = "urn:uuid:"

	// uuidLength is the length of a UUID in its dashed text form, the only one for a URN.
	uuidLength = 36
)

// Problem is an error as RFC 9457 describes it. Code, Output, Context and Data are its
// extension members, which say the same as in the envelope.
type Problem struct {
	// Type is "about:blank": the status and Code say of which kind the problem is.
	Type string `json:"type"`
	// Title is the phrase of the status, or the code's message if the status has none.
	Title string `json:"title"`
	// Status is the HTTP status.
	Status int `json:"status"`
	// Detail is what the developer tells the client, else the code's message.
	Detail string `json:"detail"`
	// Instance names this occurrence: the request id as a URN, "" where that is no UUID.
	Instance string `json:"instance,omitempty"`
	// Code is the number of the error code.
	Code int `json:"code"`
	// Output is the label of the error code.
	Output string `json:"output"`
	// Context is the request id.
	Context string `json:"context"`
	// Data is the payload, absent if it is nil or a nil pointer, map or slice.
	Data any `json:"data,omitempty"`
}

// Problem returns the error as RFC 9457 problem details, in the client's language.
func (e *Error) Problem(ctx context.Context) Problem {
	code := e.GetErrorCode()
	message := code.Message(Language(ctx))
	p := Problem{
		Type:    blank,
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
		p.Data = nil // absent as in the envelope
	}
	if len(p.Context) == uuidLength && uuid.Validate(p.Context) == nil {
		p.Instance = uuidNamespace + p.Context
	}
	return p
}
