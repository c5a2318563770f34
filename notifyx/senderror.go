package notifyx

import (
	"net/mail"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// sendError is the error of a sender. To a client it is what the sender's error is, else the failure of the type.
type sendError struct {
	kind Type
	err  error
}

// Error implements error.
func (e *sendError) Error() string { return "notifyx: send " + string(e.kind) + ": " + e.err.Error() }

// Unwrap returns the sender's error.
func (e *sendError) Unwrap() error { return e.err }

func (e *sendError) code() *xerror.ErrorCode {
	code := xerror.From(e.err).GetErrorCode()
	if code == nil || code == xerror.ServerInternalError {
		return e.kind.code()
	}
	return code
}

// maskedError is an error whose text has no recipient in it.
type maskedError struct {
	err  error
	text string
}

// Error implements error.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error with its own text.
func (e *maskedError) Unwrap() error { return e.err }

// masked takes the recipients out of the text of an error, where a server may have put them: it ends in logs, and with the
// job.
func masked(err error, m *Message) error {
	if err == nil || m == nil {
		return err
	}
	text := err.Error()
	for _, to := range m.To {
		for _, form := range forms(to) {
			text = replaceFold(text, form, "***")
		}
	}
	if text == err.Error() {
		return err
	}
	return &maskedError{err, text}
}

// forms returns what a text may call a recipient: the whole, and the address within.
func forms(to string) []string {
	to = strings.TrimSpace(to)
	list := []string{to}
	if a, err := mail.ParseAddress(to); err == nil && a.Address != to {
		list = append(list, a.Address)
	}
	return list
}

// replaceFold replaces every occurrence, whatever its case in ASCII.
func replaceFold(text, old, with string) string {
	if len(old) < 3 || len(old) > len(text) {
		return text
	}
	lower, find := lowerASCII(text), lowerASCII(old)
	var out strings.Builder
	for {
		at := strings.Index(lower, find)
		if at < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:at])
		out.WriteString(with)
		text, lower = text[at+len(old):], lower[at+len(old):]
	}
}

// lowerASCII keeps the length of the text.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, c := range lower {
		if c >= 'A' && c <= 'Z' {
			lower[i] = c + 'a' - 'A'
		}
	}
	return string(lower)
}
