package notifyx

import (
	"net/mail"
	"regexp"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// sendError wraps an error of a sender. If that error has no specific code, the client
// gets the code of the type.
type sendError struct {
	kind Type
	err  error
}

// Error implements error.
func (e *sendError) Error() string {
	return "notifyx: send " + string(e.kind) + ": " + e.err.Error()
}

// Unwrap returns the sender's error.
func (e *sendError) Unwrap() error { return e.err }

func (e *sendError) code() *xerror.ErrorCode {
	code := xerror.From(e.err).GetErrorCode()
	if code == nil || code == xerror.ServerInternalError {
		return e.kind.code()
	}
	return code
}

// maskedError replaces the text of an error with one that contains no recipient.
type maskedError struct {
	err  error
	text string
}

// Error implements error.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the unmasked error.
func (e *maskedError) Unwrap() error { return e.err }

// masked removes recipients from the text of an error, because servers may quote them and
// the text is logged and stored with the job.
func masked(err error, m *Message) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, to := range m.To {
		for _, form := range forms(to) {
			if pattern, invalid := regexp.Compile("(?i)" +
				regexp.QuoteMeta(form)); invalid == nil && len(form) >= minForm {
				text = pattern.ReplaceAllLiteralString(text, "***")
			}
		}
	}
	if text == err.Error() {
		return err
	}
	return &maskedError{err, text}
}

// minForm is the minimum length, in bytes, of a recipient that is masked. Shorter strings
// occur within too many words.
const minForm = 3

// forms returns the strings that identify a recipient in a text: the whole value and its
// address.
func forms(to string) []string {
	to = strings.TrimSpace(to)
	list := []string{to}
	if a, err := mail.ParseAddress(to); err == nil && a.Address != to {
		list = append(list, a.Address)
	}
	return list
}
