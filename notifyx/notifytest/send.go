package notifytest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
)

// sendChecks cover valid messages.
var sendChecks = []check{
	{"Send/Delivers", func(t *testing.T, e *env) {
		m := e.message(1)
		e.send(t, m)
		a := e.arrivals(t, 1)[0]
		if a.To[0] != m.To[0] || strings.TrimSpace(a.Content) != m.Content {
			t.Errorf("arrived: %+v, want %q for %q", a, m.Content, m.To[0])
		}
	}},
	{"Send/Subject", func(t *testing.T, e *env) {
		for _, subject := range []string{
			"Hello",
			"你好, Zoë – " + strings.Repeat("very ", 30) + "long", `"quoted" <a@b> =?utf-8?q?x?=`,
		} {
			m := e.message(1)
			m.Subject = subject
			e.send(t, m)
			all := e.receiver.Arrived()
			if got := all[len(all)-1].Subject; got != subject {
				t.Errorf("subject = %q, want %q", got, subject)
			}
		}
	}},
	{"Send/AnyLanguage", func(t *testing.T, e *env) {
		m := e.message(1)
		m.Content = e.h.Content("你好 Zoë 👋. " + strings.Repeat("a long line ", 200))
		e.send(t, m)
		if a := e.arrivals(t, 1)[0]; strings.TrimSpace(a.Content) != strings.TrimSpace(m.Content) {
			t.Errorf("content = %.200q, want %.200q", a.Content, m.Content)
		}
	}},
	{"Send/SeveralRecipients", func(t *testing.T, e *env) {
		m := e.message(1)
		m.To = []string{e.receiver.Recipient(0), e.receiver.Recipient(1), e.receiver.Recipient(2)}
		e.send(t, m)
		var got []string
		for _, a := range e.arrivals(t, 3) {
			got = append(got, a.To...)
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(m.To))
		if !slices.Equal(got, want) {
			t.Errorf("delivered to %q, want %q", got, want)
		}
	}},
	{"Send/DoesNotModifyMessage", func(t *testing.T, e *env) {
		m := e.message(1)
		m.To, m.Variables = []string{e.receiver.Recipient(1), e.receiver.Recipient(0)},
			map[string]any{"a": "b"}
		before := *m
		before.To, before.Variables = slices.Clone(m.To), map[string]any{"a": "b"}
		e.send(t, m)
		if !reflect.DeepEqual(*m, before) {
			t.Errorf("message changed to %+v, want %+v", *m, before)
		}
	}},
	{"Send/Concurrent", func(t *testing.T, e *env) {
		const count = 32
		var wg sync.WaitGroup
		for n := range count {
			wg.Go(func() {
				if err := e.Send(t.Context(), e.message(n)); err != nil {
					t.Errorf("Send: %v", err)
				}
			})
		}
		wg.Wait()
		marks := map[string]bool{}
		contents := map[string]bool{}
		for _, a := range e.arrivals(t, count) {
			marks[a.Mark], contents[strings.TrimSpace(a.Content)] = true, true
		}
		for n := range count {
			if text := e.message(n).Content; !contents[text] {
				t.Errorf("%q did not arrive", text)
			}
		}
		if len(marks) != count {
			t.Errorf("%d messages have %d distinct marks", count, len(marks))
		}
	}},
}

// retryChecks cover messages that are sent again.
var retryChecks = []check{
	{"Retry/SameMark", func(t *testing.T, e *env) {
		e.send(t, e.message(1))
		e.send(t, e.message(1))
		all := e.receiver.Arrived()
		for _, a := range all {
			if a.Mark == "" || a.Mark != all[0].Mark {
				t.Errorf("marks = %q and %q, want the same", all[0].Mark, a.Mark)
			}
		}
	}},
	{"Retry/SameMarkFromAnotherSender", func(t *testing.T, e *env) {
		e.send(t, e.message(1))
		other := &env{h: e.h}
		other.Sender, other.receiver = e.h.Open(t)
		other.send(t, other.message(1))
		a, b := e.receiver.Arrived()[0].Mark, other.receiver.Arrived()[0].Mark
		if a == "" || a != b {
			t.Errorf("marks = %q and %q, want the same: another replica may retry", a, b)
		}
	}},
	{"Retry/AfterFailure", func(t *testing.T, e *env) {
		e.send(t, e.message(1))
		e.receiver.SetMode(FailTemporarily)
		if err := e.Send(t.Context(), e.message(1)); err == nil {
			t.Fatal("Send succeeded although the receiver failed")
		}
		e.receiver.SetMode(Accept)
		e.send(t, e.message(1))
		all := e.receiver.Arrived()
		if first, last := all[0].Mark, all[len(all)-1].Mark; first == "" || first != last {
			t.Errorf("marks = %q and %q, want the same", first, last)
		}
	}},
	{"Retry/DistinctMarks", func(t *testing.T, e *env) {
		a, b := e.message(1), e.message(1)
		b.ID = "notifytest-other"
		e.send(t, a)
		e.send(t, b)
		if all := e.arrivals(t, 2); all[0].Mark == all[1].Mark {
			t.Errorf("two messages have the mark %q", all[0].Mark)
		}
	}},
}

// shows reports whether text contains a recipient or content of m.
func shows(text string, m *notifyx.Message) bool {
	hidden := slices.Concat(m.To, []string{m.Subject, m.Content, m.HTML})
	return slices.ContainsFunc(hidden,
		func(h string) bool { return len(h) > 3 && strings.Contains(fmt.Sprint(text), h) })
}
