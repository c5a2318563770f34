package xerror

import (
	"context"
	"net/http"
	"strconv"

	"github.com/plinthgo/plinth/core/common/xbase"
)

const (
	// ContentTypeProblem is the media type of a Problem.
	ContentTypeProblem = "application/problem+json"

	// blank is the type of a problem that says no more than its status (RFC 9457, section 4.2.1).
	blank = "about:blank"

	// uuidNamespace makes a URI of a UUID (RFC 9562, section 4).
	uuidNamespace = "urn:uuid:"
)

// Problem is an error as RFC 9457 describes it. Code, Output, Context and Data are its extension
// members, which say the same as in the envelope.
type Problem struct { //nolint:recvcheck // MarshalJSON serves values too
	// Type is "about:blank", or the base of WithTypeBase and the label.
	Type string
	// Title is the phrase of the status where Type is "about:blank", else the code's message.
	Title string
	// Status is the HTTP status.
	Status int
	// Detail is what the developer tells the client, else the code's message.
	Detail string
	// Instance names this occurrence: the request id as a URN, "" where that is no UUID.
	Instance string
	// Code is the number of the error code.
	Code int
	// Output is the label of the error code.
	Output string
	// Context is the request id.
	Context string
	// Data is the payload, absent when it encodes as null.
	Data any
}

// ProblemOption changes how an error becomes a Problem.
type ProblemOption func(problemConfig) problemConfig

type problemConfig struct{ typeBase string }

// WithTypeBase gives each code a problem type of its own: base followed by the label, as in
// "https://example.com/errors/NOT_EXIST". An empty base is "about:blank" again.
func WithTypeBase(base string) ProblemOption {
	return func(c problemConfig) problemConfig {
		c.typeBase = base
		return c
	}
}

// Problem returns the error as RFC 9457 problem details, in the client's language.
func (e *Error) Problem(ctx context.Context, options ...ProblemOption) Problem {
	var c problemConfig
	for _, o := range options {
		c = o(c)
	}
	code := e.GetErrorCode()
	message := code.Message(Language(ctx))
	p := Problem{
		Type:    blank,
		Title:   http.StatusText(code.Status()),
		Status:  code.Status(),
		Detail:  string(e.GetErrorMessage()),
		Code:    code.GetCode(),
		Output:  code.GetOutput(),
		Context: requestID(ctx),
		Data:    e.GetData(),
	}
	if c.typeBase != "" {
		p.Type = c.typeBase + p.Output
		p.Title = message
	}
	if p.Title == "" { // a status without a phrase
		p.Title = message
	}
	if p.Detail == "" {
		p.Detail = message
	}
	if isUUID(p.Context) {
		p.Instance = uuidNamespace + p.Context
	}
	return p
}

// AppendProblem appends the error as application/problem+json to dst. When its data cannot be encoded
// the error says why, and dst comes back as it was.
func (e *Error) AppendProblem(ctx context.Context, dst []byte, options ...ProblemOption) ([]byte, error) {
	p := e.Problem(ctx, options...)
	return p.AppendJSON(dst)
}

// AppendJSON appends the problem to dst. When Data cannot be encoded, dst comes back as it was.
func (p *Problem) AppendJSON(dst []byte) ([]byte, error) {
	out := append(dst, `{"type":`...)
	out = xbase.AppendString(out, p.Type)
	out = append(out, `,"title":`...)
	out = xbase.AppendString(out, p.Title)
	out = append(out, `,"status":`...)
	out = strconv.AppendInt(out, int64(p.Status), 10)
	out = append(out, `,"detail":`...)
	out = xbase.AppendString(out, p.Detail)
	if p.Instance != "" {
		out = append(out, `,"instance":`...)
		out = xbase.AppendString(out, p.Instance)
	}
	out = append(out, `,"code":`...)
	out = strconv.AppendInt(out, int64(p.Code), 10)
	out = append(out, `,"output":`...)
	out = xbase.AppendString(out, p.Output)
	out = append(out, `,"context":`...)
	out = xbase.AppendString(out, p.Context)
	out, err := xbase.AppendField(out, `,"data":`, p.Data)
	if err != nil {
		return dst, err
	}
	return append(out, '}'), nil
}

// MarshalJSON implements json.Marshaler.
func (p Problem) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// isUUID reports whether s is a UUID in its dashed text form.
func isUUID(s string) bool {
	const length = 36
	if len(s) != length {
		return false
	}
	for i := range length {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !isHex(c) {
				return false
			}
		}
	}
	return true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
