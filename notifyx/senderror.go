package notifyx

import (
	"net/mail"
	"regexp"
	"strings"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// sendError is the error of a sender. To a client it is what the sender's error is, else
// the failure of the type.
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

// maskedError is an error whose text has no recipient in it.
type maskedError struct {
	err  error
	text string
}

// Error implements error.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error with its own text.
func (e *maskedError) Unwrap() error { return e.err }

// masked takes the recipients out of the text of an error, where a server may have put
// them: it ends in logs, and with the job.
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

// minForm is the shortest recipient that is masked, in bytes: a shorter one is a part of
// too many words.
const minForm = 3

// forms returns what a text may call a recipient: the whole, and the address within.
func forms(to string) []string {
	to = strings.TrimSpace(to)
	list := []string{to}
	if a, err := mail.ParseAddress(to); err == nil && a.Address != to {
		list = append(list, a.Address)
	}
	return list
}
