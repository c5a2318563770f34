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

// The suite must fail for a broken sender, so it runs in a process of its own there.
var (
	defectFlag = flag.String("notifytest.defect", "", "run the suite on a sender with this defect")
	lawfulFlag = flag.String("notifytest.lawful", "",
		"declare the check name=reason a lawful difference")
)

// defect breaks a sender, and names the checks that must find out.
type defect struct {
	breaks func(c *courier)
	found  string
}

// noContext works on without the context that it is given.
func noContext(wait time.Duration) func(c *courier) {
	return func(c *courier) {
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

func failing(after func(m *notifyx.Message, err error) error) func(c *courier) {
	return func(c *courier) {
		right := c.after
		c.after = func(m *notifyx.Message, err error) error {
			if err = right(m, err); err != nil {
				return after(m, err)
			}
			return nil
		}
	}
}

func arriving(change func(a *notifytest.Arrival)) func(c *courier) {
	return func(c *courier) { c.arrival = change }
}

var count atomic.Int64

// defects are faults that a sender may have, one each.
var defects = map[string]defect{
	"nothing is sent": {func(c *courier) {
		c.before = func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			return ctx, nil
		}
		c.post.Answer(notifytest.FailTemporarily)
		c.after = func(*notifyx.Message, error) error { return nil }
	}, "Send/Arrives, Context/EndedBefore"},
	"content is cut": {
		arriving(func(a *notifytest.Arrival) { a.Content = a.Content[:3] }),
		"Send/Arrives, Send/AnyLanguage, Send/Concurrently",
	},
	"subject is ASCII": {arriving(func(a *notifytest.Arrival) {
		a.Subject = strings.ReplaceAll(a.Subject, "你", "?")
	}), "Send/Subject"},
	"content is ASCII": {arriving(func(a *notifytest.Arrival) {
		a.Content = strings.ReplaceAll(a.Content, "你", "?")
	}), "Send/AnyLanguage"},
	"the first recipient": {
		arriving(func(a *notifytest.Arrival) { a.To = a.To[:1] }),
		"Send/SeveralRecipients",
	},
	"the message is sorted": {func(c *courier) {
		c.mark = func(m *notifyx.Message) string {
			slices.Sort(m.To)
			return m.ID
		}
	}, "Send/KeepsTheMessage"},
	"a mark for each try": {func(c *courier) {
		c.mark = func(*notifyx.Message) string {
			return time.Now().String()
		}
	}, "Repeat/SameMark, Repeat/AfterFailure"},
	"a mark for each process": {func(c *courier) {
		salt := time.Now().String()
		c.mark = func(m *notifyx.Message) string { return salt + m.ID }
	}, "Repeat/SameMarkFromAnotherSender"},
	"no mark": {func(c *courier) {
		c.mark = func(*notifyx.Message) string {
			return ""
		}
	}, "Repeat/SameMark, Repeat/AnotherMessageHasAnotherMark"},
	"one at a time, mixed up": {func(c *courier) {
		c.mark = func(*notifyx.Message) string { return "same" }
	}, "Send/Concurrently"},
	"nil panics": {func(c *courier) {
		c.validate = func(m *notifyx.Message) error {
			return (&notifyx.Message{ID: m.ID}).Validate()
		}
	}, "Invalid/Nil"},
	"nothing is checked": {func(c *courier) {
		c.validate = func(*notifyx.Message) error {
			return nil
		}
	}, "Invalid/Zero, Invalid/NoRecipient, Invalid/NoContent, Injection/ID"},
	"recipients unchecked": {lax("to: "), "Invalid/NoRecipient, Injection/To"},
	"subjects unchecked":   {lax("subject: "), "Injection/Subject"},
	"ids unchecked":        {lax("id: "), "Injection/ID"},
	"content unchecked":    {lax("content: "), "Invalid/NoContent"},
	"invalid is temporary": {func(c *courier) {
		c.validate = func(m *notifyx.Message) error {
			if m.Validate() != nil {
				return errors.New("wrong")
			}
			return nil
		}
	}, "Injection/To, Injection/Subject"},
	"the error tells whom": {failing(func(m *notifyx.Message, err error) error {
		return errors.Join(err, errors.New(m.To[0]))
	}), "Failure/ShowsNoRecipient"},
	"all is permanent": {failing(func(_ *notifyx.Message, err error) error {
		return notifyx.Permanent(err)
	}), "Failure/Temporary, Context/Deadline, Context/Canceled"},
	"nothing is permanent": {
		failing(func(*notifyx.Message, error) error { return errBusy }),
		"Failure/Permanent",
	},
	"a failure is a success": {
		failing(func(*notifyx.Message, error) error { return nil }),
		"Failure/Temporary, Repeat/AfterFailure",
	},
	"a failure breaks it": {func(c *courier) {
		failing(func(_ *notifyx.Message, err error) error { c.closed = true; return err })(c)
	}, "Failure/TheNextSucceeds, Context/TheNextSucceeds, Repeat/AfterFailure"},
	"the context's end is ignored": {
		noContext(5 * time.Second),
		"Context/Deadline, Context/Canceled",
	},
	"the context's error is hidden": {failing(func(*notifyx.Message, error) error {
		return errBusy
	}), "Context/Deadline, Context/Canceled"},
	"an ended context is no matter": {func(c *courier) {
		c.before = func(ctx context.Context, _ *notifyx.Message) (context.Context, error) {
			return ctx, nil
		}
	}, "Context/EndedBefore"},
	"close does nothing": {func(c *courier) {
		c.closing = func(int) error {
			c.closed = false
			return nil
		}
	}, "Close/TwiceAndNothingAfter"},
	"the second close panics": {func(c *courier) {
		c.closing = func(times int) error { return map[bool]error{true: errClosed}[times > 1] }
	}, "Close/TwiceAndNothingAfter"},
	"success and nothing sent": {func(c *courier) {
		c.post.Answer(notifytest.FailTemporarily)
		c.after = func(*notifyx.Message, error) error { return nil }
	}, "Close/DuringSends"},
	"it sends some twice": {arriving(func(a *notifytest.Arrival) {
		if count.Add(1)%5 == 0 {
			a.To = append(a.To, a.To...)
		}
	}), "Send/Concurrently"},
}

func TestARightSenderPasses(t *testing.T) { notifytest.Run(t, harness(func(*courier) {})) }

// open hides the method Close.
type open struct{ notifyx.Sender }

func TestASenderWithoutCloseAndWithItsOwnContentPasses(t *testing.T) {
	h := harness(func(*courier) {})
	inner := h.Open
	h.Open = func(tb testing.TB) (notifyx.Sender, notifytest.Receiver) {
		tb.Helper()
		s, r := inner(tb)
		return open{s}, r
	}
	h.Content = func(text string) string { return `{"text":"` + text + `"}` }
	notifytest.Run(t, h)
}

// TestBroken is the process that the tests below start.
func TestBroken(t *testing.T) {
	d, ok := defects[*defectFlag]
	if !ok && *lawfulFlag == "" {
		t.Skip("needs a flag")
	}
	if d.breaks == nil {
		d.breaks = func(*courier) {}
	}
	h := harness(d.breaks)
	h.EndsWithin = time.Second
	if name, reason, ok := strings.Cut(*lawfulFlag, "="); ok {
		h.Lawful = map[string]string{name: reason}
	}
	notifytest.Run(t, h)
}

// runBroken runs a part of TestBroken with a flag, and returns what it printed and
// whether it passed.
func runBroken(t *testing.T, part string, flags ...string) (output string, passed bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "-test.run=^TestBroken$"
	for name := range strings.SplitSeq(part, "/") {
		if name != "" {
			run += "/^" + name + "$"
		}
	}
	out, err := exec.CommandContext(t.Context(), self,
		append([]string{run, "-test.timeout=1m"}, flags...)...).CombinedOutput()
	return string(out), err == nil
}

func TestEveryDefectIsFound(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(defects)) {
		for check := range strings.SplitSeq(defects[name].found, ", ") {
			t.Run(name+" by "+check, func(t *testing.T) {
				t.Parallel()
				out, passed := runBroken(t, check, "-notifytest.defect="+name)
				if passed || !strings.Contains(out, "--- FAIL: TestBroken/"+check) &&
					!strings.Contains(out, "panic") {
					t.Errorf("the check passed = %t, want a failure:\n%s", passed, out)
				}
			})
		}
	}
}

func TestEveryCheckFindsADefect(t *testing.T) {
	for _, check := range notifytest.Checks() {
		if !slices.ContainsFunc(slices.Collect(maps.Values(defects)), func(d defect) bool {
			return slices.Contains(strings.Split(d.found, ", "), check)
		}) {
			t.Errorf("no defect is there for the check %s", check)
		}
	}
	for name, d := range defects {
		for check := range strings.SplitSeq(d.found, ", ") {
			if !slices.Contains(notifytest.Checks(), check) {
				t.Errorf("%s: %q is no check", name, check)
			}
		}
	}
}

func TestALawfulDifferenceIsSkipped(t *testing.T) {
	out, passed := runBroken(t, "Send/Subject", "-notifytest.defect=subject is ASCII",
		"-notifytest.lawful=Send/Subject=its receivers have no subject")
	if !passed {
		t.Errorf("the suite failed:\n%s", out)
	}
}

func TestLawfulDifferencesAreNamedAndReasoned(t *testing.T) {
	for lawful, want := range map[string]string{
		"Send/Unknown=because": "which is no check",
		"Send/Subject= ":       "gives no reason",
	} {
		out, passed := runBroken(t, "", "-notifytest.lawful="+lawful)
		if passed || !strings.Contains(out, want) {
			t.Errorf("%s: the suite passed = %t, want a failure that says %q:\n%s",
				lawful, passed, want, out)
		}
	}
}
