package notifytest

import (
	"errors"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

// lineBreaks are characters that may terminate a header, a line or a command.
var lineBreaks = []string{"\r\n", "\n", "\r", "\x00", "\u0085", "\u2028", "\x7f", "\t"}

// invalidChecks cover invalid messages.
var invalidChecks = []check{
	{"Invalid/Nil", func(t *testing.T, e *env) { e.rejects(t, nil) }},
	{"Invalid/Zero", func(t *testing.T, e *env) { e.rejects(t, &notifyx.Message{}) }},
	{"Invalid/NoRecipient", func(t *testing.T, e *env) {
		for _, to := range [][]string{nil, {}, {""}, {e.receiver.Recipient(0), " "}} {
			m := e.message(1)
			m.To = to
			e.rejects(t, m)
		}
	}},
	{"Invalid/NoContent", func(t *testing.T, e *env) {
		m := e.message(1)
		m.Content = ""
		e.rejects(t, m)
	}},
	{"Injection/To", func(t *testing.T, e *env) {
		for _, end := range lineBreaks {
			for _, to := range []string{e.receiver.Recipient(0) + end, e.receiver.Recipient(0) +
				end + "Bcc: eve@example.com", end + e.receiver.Recipient(0)} {
				m := e.message(1)
				m.To = []string{to}
				e.rejects(t, m)
				m.To = []string{e.receiver.Recipient(1), to}
				e.rejects(t, m)
			}
		}
	}},
	{"Injection/Subject", func(t *testing.T, e *env) {
		for _, end := range lineBreaks {
			m := e.message(1)
			m.Subject = "Hello" + end + "Bcc: eve@example.com"
			e.rejects(t, m)
		}
	}},
	{"Injection/ID", func(t *testing.T, e *env) {
		for _, id := range []string{"a\r\nBcc: eve@example.com", "a b", "<a>", "a@b", "李"} {
			m := e.message(1)
			m.ID = id
			e.rejects(t, m)
		}
	}},
}

// rejects sends a message that must be rejected before anything is sent.
func (e *env) rejects(t *testing.T, m *notifyx.Message) {
	t.Helper()
	err := e.Send(t.Context(), m)
	if !errors.Is(err, notifyx.ErrMessage) || !errors.Is(err, notifyx.ErrPermanent) {
		t.Fatalf("Send = %v, want an ErrMessage that is an ErrPermanent", err)
	}
	if m != nil && shows(err.Error(), m) {
		t.Errorf("error contains a recipient or content: %v", err)
	}
	e.arrivals(t, 0)
}
