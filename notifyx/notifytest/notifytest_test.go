package notifytest_test

import (
	"context"
	"errors"
	"flag"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/notifytest"
)

// The suite must fail for a faulty sender, so it runs in a child process.
var (
	defectFlag = flag.String("notifytest.defect", "",
		"run the suite on a sender with this defect")
	differenceFlag = flag.String("notifytest.difference", "",
		"declare a difference as check=reason")
)

// defect is a fault of a sender and the checks that must detect it.
type defect struct {
	apply  func(c *fakeSender)
	checks string // separated by ", "
}

// noContext ignores the cancellation of the context for a while.
func noContext(wait time.Duration) func(c *fakeSender) {
	return func(c *fakeSender) {
		c.before = func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			late, cancel := context.WithCancel(context.WithoutCancel(ctx))
			context.AfterFunc(ctx, func() { time.AfterFunc(wait, cancel) })
			return late, nil
		}
	}
}

func changeError(after func(m *notifyx.Message, err error) error) func(c *fakeSender) {
	return func(c *fakeSender) {
		original := c.after
		c.after = func(m *notifyx.Message, err error) error {
			if err = original(m, err); err != nil {
				return after(m, err)
			}
			return nil
		}
	}
}

func changeArrival(change func(a *notifytest.Arrival)) func(c *fakeSender) {
	return func(c *fakeSender) { c.arrival = change }
}

var count atomic.Int64

// defects lists faulty senders.
var defects = map[string]defect{
	"sends nothing": {func(c *fakeSender) {
		c.before = func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			return ctx, nil
		}
		c.inbox.SetMode(notifytest.FailTemporarily)
		c.after = func(*notifyx.Message, error) error { return nil }
	}, "Send/Delivers, Context/AlreadyCanceled"},
	"truncates content": {
		changeArrival(func(a *notifytest.Arrival) { a.Content = a.Content[:3] }),
		"Send/Delivers, Send/AnyLanguage, Send/Concurrent",
	},
	"ASCII subject": {changeArrival(func(a *notifytest.Arrival) {
		a.Subject = strings.ReplaceAll(a.Subject, "你", "?")
	}), "Send/Subject"},
	"ASCII content": {changeArrival(func(a *notifytest.Arrival) {
		a.Content = strings.ReplaceAll(a.Content, "你", "?")
	}), "Send/AnyLanguage"},
	"first recipient only": {
		changeArrival(func(a *notifytest.Arrival) { a.To = a.To[:1] }),
		"Send/SeveralRecipients",
	},
	"sorts recipients": {func(c *fakeSender) {
		c.mark = func(m *notifyx.Message) string {
			slices.Sort(m.To)
			return m.ID
		}
	}, "Send/DoesNotModifyMessage"},
	"mark per attempt": {func(c *fakeSender) {
		c.mark = func(*notifyx.Message) string {
			return time.Now().String()
		}
	}, "Retry/SameMark, Retry/AfterFailure"},
	"mark per process": {func(c *fakeSender) {
		salt := time.Now().String()
		c.mark = func(m *notifyx.Message) string { return salt + m.ID }
	}, "Retry/SameMarkFromAnotherSender"},
	"no mark": {func(c *fakeSender) {
		c.mark = func(*notifyx.Message) string {
			return ""
		}
	}, "Retry/SameMark, Retry/DistinctMarks"},
	"constant mark": {func(c *fakeSender) {
		c.mark = func(*notifyx.Message) string { return "same" }
	}, "Send/Concurrent"},
	"panics for nil": {func(c *fakeSender) {
		c.validate = func(m *notifyx.Message) error {
			return (&notifyx.Message{ID: m.ID}).Validate()
		}
	}, "Invalid/Nil"},
	"no validation": {func(c *fakeSender) {
		c.validate = func(*notifyx.Message) error {
			return nil
		}
	}, "Invalid/Zero, Invalid/NoRecipient, Invalid/NoContent, Injection/ID"},
	"recipients unchecked": {acceptInvalid("to: "), "Invalid/NoRecipient, Injection/To"},
	"subjects unchecked":   {acceptInvalid("subject: "), "Injection/Subject"},
	"ids unchecked":        {acceptInvalid("id: "), "Injection/ID"},
	"content unchecked":    {acceptInvalid("content: "), "Invalid/NoContent"},
	"temporary validation error": {func(c *fakeSender) {
		c.validate = func(m *notifyx.Message) error {
			if m.Validate() != nil {
				return errors.New("wrong")
			}
			return nil
		}
	}, "Injection/To, Injection/Subject"},
	"error with recipient": {changeError(func(m *notifyx.Message, err error) error {
		return errors.Join(err, errors.New(m.To[0]))
	}), "Failure/HidesRecipients"},
	"only permanent errors": {changeError(func(_ *notifyx.Message, err error) error {
		return notifyx.Permanent(err)
	}), "Failure/Temporary, Context/Deadline, Context/Canceled"},
	"only temporary errors": {
		changeError(func(*notifyx.Message, error) error { return errBusy }),
		"Failure/Permanent",
	},
	"hides failures": {
		changeError(func(*notifyx.Message, error) error { return nil }),
		"Failure/Temporary, Retry/AfterFailure",
	},
	"a failure closes the sender": {func(c *fakeSender) {
		changeError(func(_ *notifyx.Message, err error) error { c.closed = true; return err })(c)
	}, "Failure/NextMessageSucceeds, Context/NextMessageSucceeds, Retry/AfterFailure"},
	"ignores cancellation": {
		noContext(5 * time.Second),
		"Context/Deadline, Context/Canceled",
	},
	"hides the context error": {changeError(func(*notifyx.Message, error) error {
		return errBusy
	}), "Context/Deadline, Context/Canceled"},
	"ignores a canceled context": {func(c *fakeSender) {
		c.before = func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			return ctx, nil
		}
	}, "Context/AlreadyCanceled"},
	"Close does nothing": {func(c *fakeSender) {
		c.closing = func(int) error {
			c.closed = false
			return nil
		}
	}, "Close/TwiceThenRejects"},
	"second Close fails": {func(c *fakeSender) {
		c.closing = func(times int) error { return map[bool]error{true: errClosed}[times > 1] }
	}, "Close/TwiceThenRejects"},
	"success without sending": {func(c *fakeSender) {
		c.inbox.SetMode(notifytest.FailTemporarily)
		c.after = func(*notifyx.Message, error) error { return nil }
	}, "Close/DuringSends"},
	"sends duplicates": {changeArrival(func(a *notifytest.Arrival) {
		if count.Add(1)%5 == 0 {
			a.To = append(a.To, a.To...)
		}
	}), "Send/Concurrent"},
}

func TestRun(t *testing.T) {
	t.Run("accepts a correct sender",
		func(t *testing.T) { notifytest.Run(t, harness(func(*fakeSender) {})) })

	t.Run("accepts a sender without Close and with other content", func(t *testing.T) {
		h := harness(func(*fakeSender) {})
		inner := h.Open
		h.Open = func(tb testing.TB) (notifyx.Sender, notifytest.Receiver) {
			tb.Helper()
			s, r := inner(tb)
			return withoutClose{s}, r
		}
		h.Content = func(text string) string { return `{"text":"` + text + `"}` }
		notifytest.Run(t, h)
	})
}

// withoutClose hides the Close method.
type withoutClose struct{ notifyx.Sender }

// TestFaultySender runs in the child processes of the tests below.
func TestFaultySender(t *testing.T) {
	d, ok := defects[*defectFlag]
	if !ok && *differenceFlag == "" {
		t.Skip("runs only with a flag of this test")
	}
	if d.apply == nil {
		d.apply = func(*fakeSender) {}
	}
	h := harness(d.apply)
	h.CancelTimeout = time.Second
	if name, reason, ok := strings.Cut(*differenceFlag, "="); ok {
		h.Differences = map[string]string{name: reason}
	}
	notifytest.Run(t, h)
}

// runFaultySender runs a check of TestFaultySender in a child process with flags, and
// returns its output and whether it passed.
func runFaultySender(t *testing.T, part string, flags ...string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "-test.run=^TestFaultySender$"
	for name := range strings.SplitSeq(part, "/") {
		if name != "" {
			run += "/^" + name + "$"
		}
	}
	out, err := exec.CommandContext(t.Context(), self,
		append([]string{run, "-test.timeout=1m"}, flags...)...).CombinedOutput()
	return string(out), err == nil
}

func TestRun_Defects(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		for check := range strings.SplitSeq(defects[name].checks, ", ") {
			t.Run(name+" by "+check, func(t *testing.T) {
				t.Parallel()
				out, passed := runFaultySender(t, check, "-notifytest.defect="+name)
				if passed || !strings.Contains(out, "--- FAIL: TestFaultySender/"+check) &&
					!strings.Contains(out, "panic") {
					t.Errorf("the check passed = %t, want a failure:\n%s", passed, out)
				}
			})
		}
	}
}

func TestChecks(t *testing.T) {
	for _, check := range notifytest.Checks() {
		detects := func(d defect) bool {
			return slices.Contains(strings.Split(d.checks, ", "), check)
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(defects)), detects) {
			t.Errorf("no defect for check %s", check)
		}
	}
	for name, d := range defects {
		for check := range strings.SplitSeq(d.checks, ", ") {
			if !slices.Contains(notifytest.Checks(), check) {
				t.Errorf("%s: unknown check %q", name, check)
			}
		}
	}
}

func TestRun_Differences(t *testing.T) {
	t.Run("skips a declared difference", func(t *testing.T) {
		out, passed := runFaultySender(t, "Send/Subject", "-notifytest.defect=ASCII subject",
			"-notifytest.difference=Send/Subject=its receivers have no subject")
		if !passed {
			t.Errorf("the suite failed:\n%s", out)
		}
	})

	t.Run("rejects an unknown check or a missing reason", func(t *testing.T) {
		for difference, want := range map[string]string{
			"Send/Unknown=because": "unknown check",
			"Send/Subject= ":       "no reason",
		} {
			out, passed := runFaultySender(t, "", "-notifytest.difference="+difference)
			if passed || !strings.Contains(out, want) {
				t.Errorf("%s: the suite passed = %t, want a failure with %q:\n%s",
					difference, passed, want, out)
			}
		}
	})
}
