package notifytest

import (
	"errors"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

// endings are what may end a header, a line or a command.
var endings = []string{"\r\n", "\n", "\r", "\x00", "\u0085", "\u2028", "\x7f", "\t"}

// invalidChecks are about messages that are wrong.
var invalidChecks = []check{
	{"Invalid/Nil", func(t *testing.T, e *env) { e.refused(t, nil) }},
	{"Invalid/Zero", func(t *testing.T, e *env) { e.refused(t, &notifyx.Message{}) }},
	{"Invalid/NoRecipient", func(t *testing.T, e *env) {
		for _, to := range [][]string{nil, {}, {""}, {e.receiver.Recipient(0), " "}} {
			m := e.message(1)
			m.To = to
			e.refused(t, m)
		}
	}},
	{"Invalid/NoContent", func(t *testing.T, e *env) {
		m := e.message(1)
		m.Content = ""
		e.refused(t, m)
	}},
	{"Injection/To", func(t *testing.T, e *env) {
		for _, end := range endings {
			for _, to := range []string{e.receiver.Recipient(0) + end, e.receiver.Recipient(0) +
				end + "Bcc: eve@example.com", end + e.receiver.Recipient(0)} {
				m := e.message(1)
				m.To = []string{to}
				e.refused(t, m)
				m.To = []string{e.receiver.Recipient(1), to}
				e.refused(t, m)
			}
		}
	}},
	{"Injection/Subject", func(t *testing.T, e *env) {
		for _, end := range endings {
			m := e.message(1)
			m.Subject = "Hello" + end + "Bcc: eve@example.com"
			e.refused(t, m)
		}
	}},
	{"Injection/ID", func(t *testing.T, e *env) {
		for _, id := range []string{"a\r\nBcc: eve@example.com", "a b", "<a>", "a@b", "李"} {
			m := e.message(1)
			m.ID = id
			e.refused(t, m)
		}
	}},
}

// refused sends what must be refused before anything leaves.
func (e *env) refused(t *testing.T, m *notifyx.Message) {
	t.Helper()
	err := e.Send(t.Context(), m)
	if !errors.Is(err, notifyx.ErrMessage) || !errors.Is(err, notifyx.ErrPermanent) {
		t.Fatalf("Send = %v, want an ErrMessage that is an ErrPermanent", err)
	}
	if m != nil && shows(err.Error(), m) {
		t.Errorf("the error shows a recipient or a content: %v", err)
	}
	e.arrivals(t, 0)
}
