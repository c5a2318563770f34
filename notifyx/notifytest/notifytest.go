// Package notifytest provides a conformance suite for implementations of notifyx.Sender.
//
//	func TestConformance(t *testing.T) {
//		notifytest.Run(t, notifytest.Harness{Type: notifyx.TypeSMS, Open: open})
//	}
//
// Each check opens its own sender and receiver. The receiver records accepted messages
// and fails on request.
package notifytest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/notifyx"
)

// Mode is the behavior of a receiver.
type Mode int

// Modes of a receiver.
const (
	// Accept accepts every message.
	Accept Mode = iota
	// FailTemporarily rejects every message with a temporary failure.
	FailTemporarily
	// FailPermanently rejects every message with a permanent failure.
	FailPermanently
	// Hang reads the message and does not respond until the sender closes the connection.
	Hang
)

// Arrival is a message that a receiver accepted, for all or some of its recipients.
type Arrival struct {
	// Mark identifies duplicates. It is derived from Message.ID only and is not empty.
	Mark string
	// To contains the recipients as returned by Receiver.Recipient.
	To []string
	// Subject and Content are decoded.
	Subject, Content string
}

// Receiver is the test server of a sender. It must be safe for concurrent use.
type Receiver interface {
	// Recipient returns the i-th recipient, from 0 to 9. All are distinct.
	Recipient(i int) string
	// SetMode sets the mode, which is initially Accept.
	SetMode(m Mode)
	// Arrived returns the accepted messages in order, including every message that Send
	// has returned nil for.
	Arrived() []Arrival
}

// Harness provides the sender under test.
type Harness struct {
	// Type is the type of the messages.
	Type notifyx.Type

	// Open returns a sender and its receiver. It must close both at the end of the test.
	Open func(tb testing.TB) (notifyx.Sender, Receiver)

	// Content returns valid content that contains text, such as a JSON document. If it is
	// nil, the content is the text.
	Content func(text string) string

	// CancelTimeout is the maximum time between the end of the context and the return of
	// Send. The default is 2 s.
	CancelTimeout time.Duration

	// Differences maps the names of checks that the sender does not pass to the reason.
	// Run fails for an unknown name or an empty reason.
	Differences map[string]string
}

type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks returns all checks in order.
func checks() []check {
	return slices.Concat(sendChecks, retryChecks, invalidChecks, failureChecks, contextChecks,
		closeChecks)
}

// Checks returns the names of all checks, for Harness.Differences.
func Checks() []string {
	var names []string
	for _, c := range checks() {
		names = append(names, c.name)
	}
	return names
}

// Run runs every check as a subtest of t.
func Run(t *testing.T, h Harness) {
	t.Helper()
	if h.CancelTimeout == 0 {
		h.CancelTimeout = 2 * time.Second
	}
	if h.Content == nil {
		h.Content = func(text string) string { return text }
	}
	for name, reason := range h.Differences {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Differences: unknown check %q", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Differences: no reason for %q", name)
		}
	}
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if reason, ok := h.Differences[c.name]; ok {
				t.Skip("declared difference: " + reason)
			}
			e := &env{h: h}
			e.Sender, e.receiver = h.Open(t)
			c.run(t, e)
		})
	}
}

// env is the environment of a check.
type env struct {
	notifyx.Sender
	receiver Receiver
	h        Harness
}

// message returns the n-th valid message, to recipient 0.
func (e *env) message(n int) *notifyx.Message {
	return &notifyx.Message{
		ID: fmt.Sprintf("notifytest-%d", n), Type: e.h.Type, To: []string{e.receiver.Recipient(0)},
		Priority: job.PriorityDefault,
		Subject:  fmt.Sprintf("Subject %d", n), Content: e.h.Content(fmt.Sprintf("content-%d.", n)),
	}
}

// send sends a message and requires success.
func (e *env) send(t *testing.T, m *notifyx.Message) {
	t.Helper()
	if err := e.Send(t.Context(), m); err != nil {
		t.Fatalf("Send: %v", err)
	}
}

// arrivals returns one Arrival per recipient and requires the given number.
func (e *env) arrivals(t *testing.T, want int) []Arrival {
	t.Helper()
	var all []Arrival
	for _, a := range e.receiver.Arrived() {
		for _, to := range a.To {
			all = append(all, Arrival{
				Mark: a.Mark, To: []string{to}, Subject: a.Subject, Content: a.Content,
			})
		}
	}
	if len(all) != want {
		t.Fatalf("%d messages arrived, want %d", len(all), want)
	}
	return all
}
