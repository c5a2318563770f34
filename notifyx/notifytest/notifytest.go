// Package notifytest is the definition of how a sender behaves: what passes Run may be
// given to a router, whoever wrote it.
//
//	func TestConformance(t *testing.T) {
//		notifytest.Run(t, notifytest.Harness{Type: notifyx.TypeSMS, Open: open})
//	}
//
// Every check opens a sender and a receiver of its own. The receiver tells what arrived,
// and fails when it is told to.
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

// Mode is how a receiver answers.
type Mode int

// The modes.
const (
	// Accept takes every message.
	Accept Mode = iota
	// FailTemporarily refuses every message for now.
	FailTemporarily
	// FailPermanently refuses every message for good.
	FailPermanently
	// Hang takes the message and never answers, until the other side gives up.
	Hang
)

// Arrival is what a receiver has accepted: a message, or the part of it for some of the
// recipients.
type Arrival struct {
	// Mark is what the receiver tells a repeat by: made of Message.ID and nothing else,
	// and never empty.
	Mark string
	// To has those that it was for, as Receiver.Recipient gives them.
	To []string
	// Subject and Content are as people would read them, without encoding.
	Subject, Content string
}

// Receiver is the other side of a sender. It is safe for concurrent use.
type Receiver interface {
	// Recipient returns the recipient number i, from 0 to 9: each is another one.
	Recipient(i int) string
	// Answer changes how it answers from now on. It begins with Accept.
	Answer(m Mode)
	// Arrived returns what it has accepted, in order. What Send has succeeded with is
	// there.
	Arrived() []Arrival
}

// Harness supplies one sender under test.
type Harness struct {
	// Type is that of the messages.
	Type notifyx.Type

	// Open returns a sender and the receiver that its messages go to. Both end with the
	// test.
	Open func(tb testing.TB) (notifyx.Sender, Receiver)

	// Content makes a valid content that holds a text, such as a JSON document. Nil is
	// the text itself.
	Content func(text string) string

	// EndsWithin is the most that Send takes to return after its context has ended; 0 is
	// 2 s.
	EndsWithin time.Duration

	// Lawful names the checks that the sender does not pass and need not, each with the
	// reason. An unknown name or an empty reason fails the suite.
	Lawful map[string]string
}

// check is one part of the definition.
type check struct {
	name string
	run  func(t *testing.T, e *env)
}

// checks is the whole definition, in the order of the files.
func checks() []check {
	return slices.Concat(sendChecks, repeatChecks, invalidChecks, failureChecks, contextChecks,
		closeChecks)
}

// Checks returns the names of all checks, for Harness.Lawful.
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
	if h.EndsWithin == 0 {
		h.EndsWithin = 2 * time.Second
	}
	if h.Content == nil {
		h.Content = func(text string) string { return text }
	}
	for name, reason := range h.Lawful {
		if !slices.Contains(Checks(), name) {
			t.Errorf("Lawful names %q, which is no check", name)
		}
		if strings.TrimSpace(reason) == "" {
			t.Errorf("Lawful gives no reason for %q", name)
		}
	}
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			if reason, ok := h.Lawful[c.name]; ok {
				t.Skip("lawful difference: " + reason)
			}
			e := &env{h: h}
			e.Sender, e.receiver = h.Open(t)
			c.run(t, e)
		})
	}
}

// env is what one check works with.
type env struct {
	notifyx.Sender
	receiver Receiver
	h        Harness
}

// message returns the valid message number n, to recipient 0.
func (e *env) message(n int) *notifyx.Message {
	return &notifyx.Message{
		ID: fmt.Sprintf("notifytest-%d", n), Type: e.h.Type, To: []string{e.receiver.Recipient(0)},
		Priority: job.PriorityDefault,
		Subject:  fmt.Sprintf("Subject %d", n), Content: e.h.Content(fmt.Sprintf("content-%d.", n)),
	}
}

// send sends what must succeed.
func (e *env) send(t *testing.T, m *notifyx.Message) {
	t.Helper()
	if err := e.Send(t.Context(), m); err != nil {
		t.Fatalf("Send: %v", err)
	}
}

// arrivals returns what has arrived, which must be so many recipients of messages.
func (e *env) arrivals(t *testing.T, want int) []Arrival {
	t.Helper()
	var all []Arrival
	for _, a := range e.receiver.Arrived() {
		for _, to := range a.To {
			all = append(all, Arrival{
				Mark: a.Mark, To: []string{to}, Subject: a.Subject,
				Content: a.Content,
			})
		}
	}
	if len(all) != want {
		t.Fatalf("%d messages have arrived, want %d", len(all), want)
	}
	return all
}
