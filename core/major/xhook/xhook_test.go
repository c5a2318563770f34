package xhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/major/xhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// record returns a hook that appends name to *log and returns err.
func record(log *[]string, name string, err error) xhook.Func {
	return func(context.Context) error {
		*log = append(*log, name)
		return err
	}
}

func TestLifecycle_Hooks(t *testing.T) {
	t.Run("start and drain hooks run in order, stop hooks in reverse", func(t *testing.T) {
		l := xhook.New()
		ctx := xhook.NewContext(t.Context(), l)
		var log []string
		for _, n := range []string{"1", "2", "3"} {
			xhook.OnStart(ctx, n, record(&log, "start"+n, nil))
			xhook.OnReady(ctx, n, record(&log, "ready"+n, nil))
			xhook.OnDrain(ctx, n, record(&log, "drain"+n, nil))
			xhook.OnStop(ctx, n, record(&log, "stop"+n, nil))
			l.OnClose(n, record(&log, "close"+n, nil))
		}
		for _, run := range []func(context.Context) error{
			l.Start, l.SetReady, l.Drain, l.Stop, l.Stop,
		} {
			if err := run(ctx); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{
			"start1", "start2", "start3", "ready1", "ready2", "ready3",
			"drain1", "drain2", "drain3", "stop3", "stop2", "stop1", "close3", "close2", "close1",
		}
		if !slices.Equal(log, want) {
			t.Errorf("hooks ran as %v, want %v", log, want)
		}
	})

	t.Run("every stop hook runs if one fails", func(t *testing.T) {
		one, two := errors.New("one"), errors.New("two")
		l := xhook.New()
		var log []string
		l.OnStop("a", record(&log, "a", one))
		l.OnStop("b", record(&log, "b", nil))
		l.OnStop("c", record(&log, "c", two))
		err := l.Stop(t.Context())
		if !errors.Is(err, one) || !errors.Is(err, two) {
			t.Errorf("Stop = %v, want both errors", err)
		}
		if !slices.Equal(log, []string{"c", "b", "a"}) {
			t.Errorf("ran %v, want c b a", log)
		}
	})

	t.Run("a panic is an error with a stack", func(t *testing.T) {
		cause := errors.New("cause")
		l := xhook.New()
		l.OnStop("a", func(context.Context) error { panic(cause) })
		err := l.Stop(t.Context())
		var p *xhook.PanicError
		if !errors.As(err, &p) || len(p.Stack) == 0 || !errors.Is(err, cause) {
			t.Errorf("Stop = %#v, want a *PanicError with a stack and its cause", err)
		}
	})

	t.Run("a hook that hangs is abandoned at the deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			l := xhook.New()
			var log []string
			l.OnStop("after", record(&log, "after", nil))
			l.OnStop("hangs", func(context.Context) error { <-release; return nil })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			err := l.Stop(ctx)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Stop = %v, want context.DeadlineExceeded", err)
			}
			if got := time.Since(start); got != time.Second {
				t.Errorf("Stop took %s, want 1s", got)
			}
		})
	})

	t.Run("a hook can add a hook to its phase", func(t *testing.T) {
		l := xhook.New()
		var log []string
		l.OnStop("outer", func(context.Context) error {
			if !l.OnStop("inner", record(&log, "inner", nil)) {
				t.Error("OnStop = false while the stop hooks run")
			}
			return nil
		})
		if err := l.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(log, []string{"inner"}) {
			t.Errorf("ran %v, want inner", log)
		}
		if l.OnStop("late", record(&log, "late", nil)) {
			t.Error("OnStop = true after the stop hooks have run")
		}
	})
}

func TestLifecycle_Start(t *testing.T) {
	t.Run("the first error aborts the startup and names the hook", func(t *testing.T) {
		boom := errors.New("boom")
		l := xhook.New()
		var log []string
		l.OnStart("a", record(&log, "a", nil))
		l.OnStart("b", record(&log, "b", boom))
		l.OnStart("c", record(&log, "c", nil))
		err := l.Start(t.Context())
		if !errors.Is(err, boom) || err.Error() != `start hook "b": boom` {
			t.Errorf("Start = %v, want the error of hook b", err)
		}
		if !slices.Equal(log, []string{"a", "b"}) {
			t.Errorf("ran %v, want a and b", log)
		}
	})

	t.Run("each error that a hook joins names the hook", func(t *testing.T) {
		l := xhook.New()
		l.OnStart("check", func(context.Context) error {
			return errors.Join(errors.New("first"), errors.Join(errors.New("second")))
		})
		err := l.Start(t.Context())
		want := "start hook \"check\": first\nstart hook \"check\": second"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
	t.Run("cancellation aborts the startup", func(t *testing.T) {
		cause := errors.New("stop requested")
		ctx, cancel := context.WithCancelCause(t.Context())
		l := xhook.New()
		var log []string
		l.OnReady("a", func(context.Context) error { cancel(cause); return nil })
		l.OnReady("b", record(&log, "b", nil))
		if err := l.SetReady(ctx); !errors.Is(err, cause) || l.State() != xhook.StateStarting {
			t.Errorf("SetReady = %v, state = %s; want the cause of the context, and starting",
				err, l.State())
		}
		l.OnStart("c", record(&log, "c", nil))
		if err := l.Start(ctx); !errors.Is(err, cause) || len(log) > 0 {
			t.Errorf("Start = %v and ran %v, want the cause of the context and no hook", err, log)
		}
	})
}

func TestLifecycle_State(t *testing.T) {
	t.Run("a failed ready hook leaves the state starting", func(t *testing.T) {
		l := xhook.New()
		l.OnReady("a", func(context.Context) error { return errors.New("no") })
		if err := l.SetReady(t.Context()); err == nil {
			t.Error("SetReady = nil, want the error")
		}
		if l.State() != xhook.StateStarting {
			t.Errorf("state = %s, want starting", l.State())
		}
	})

	t.Run("only moves forward", func(t *testing.T) {
		l := xhook.New()
		var got []string
		appendState := func() { got = append(got, l.State().String()) }
		appendState()
		_ = l.SetReady(t.Context())
		appendState()
		l.StartDrain()
		appendState()
		_ = l.SetReady(t.Context())
		appendState()
		_ = l.Stop(t.Context())
		appendState()
		want := []string{"starting", "ready", "draining", "draining", "stopped"}
		if !slices.Equal(got, want) {
			t.Errorf("states = %v, want %v", got, want)
		}
	})
}

func TestDraining(t *testing.T) {
	l := xhook.New()
	ctx := xhook.NewContext(t.Context(), l)
	select {
	case <-xhook.Draining(ctx):
		t.Fatal("closed before the shutdown")
	default:
	}
	seen := false
	l.OnDrain("a", func(context.Context) error {
		<-xhook.Draining(ctx)
		seen = true
		return nil
	})
	if err := l.Drain(ctx); err != nil || !seen {
		t.Errorf("Drain = %v, seen = %t; want the channel closed before the hooks", err, seen)
	}
}

func TestFail(t *testing.T) {
	t.Run("stores the first error", func(t *testing.T) {
		l := xhook.New()
		ctx := xhook.NewContext(t.Context(), l)
		first := errors.New("first")
		if !xhook.Fail(ctx, first) || !xhook.Fail(ctx, errors.New("second")) {
			t.Error("Fail = false, want true")
		}
		<-l.Failed()
		if !errors.Is(l.Err(), first) {
			t.Errorf("Err = %v, want the first", l.Err())
		}
	})

	t.Run("a nil error is a failure", func(t *testing.T) {
		l := xhook.New()
		l.Fail(nil)
		if l.Err() == nil {
			t.Error("Err = nil, want an error")
		}
	})
}

func TestLifecycle_Nil(t *testing.T) {
	fn := func(context.Context) error { return nil }
	ctx := t.Context()
	for name, got := range map[string]bool{
		"OnStart":    xhook.OnStart(ctx, "a", fn),
		"OnReady":    xhook.OnReady(ctx, "a", fn),
		"OnDrain":    xhook.OnDrain(ctx, "a", fn),
		"OnShutdown": xhook.OnShutdown(ctx, "a", fn),
		"OnStop":     xhook.OnStop(ctx, "a", fn),
		"AddHealth":  xhook.AddHealth(ctx, "a", fn),
		"Fail":       xhook.Fail(ctx, errors.New("x")),
	} {
		if got {
			t.Errorf("%s = true, want false", name)
		}
	}
	var l *xhook.Lifecycle
	if l.State() != xhook.StateStarting || l.Check(ctx) != nil || xhook.Draining(ctx) != nil ||
		xhook.Ready(ctx) != nil {
		t.Error("a nil Lifecycle is not empty")
	}
	if xhook.From(nil) != nil { //nolint:staticcheck // a nil context is the test case
		t.Error("From(nil) is not nil")
	}
}

func ExampleOnStop() {
	// A node registers the function that stops what it started.
	start := func(ctx context.Context) (any, error) {
		if !xhook.OnStop(ctx, "mailer", func(context.Context) error {
			fmt.Println("mail queue flushed")
			return nil
		}) {
			return nil, errors.New("no application")
		}
		return "mailer", nil
	}

	l := xhook.New() // xreg and xmain do this for an application
	if _, err := start(xhook.NewContext(context.Background(), l)); err != nil {
		fmt.Println(err)
	}
	_ = l.Stop(context.Background())
	// Output: mail queue flushed
}
