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

// note returns a hook that appends its name to *log and returns err.
func note(log *[]string, name string, err error) xhook.Func {
	return func(context.Context) error {
		*log = append(*log, name)
		return err
	}
}

func TestHooksRunInOrderAndStopHooksInReverse(t *testing.T) {
	l := xhook.New()
	ctx := xhook.NewContext(t.Context(), l)
	var log []string
	for _, n := range []string{"1", "2", "3"} {
		xhook.OnStart(ctx, n, note(&log, "start"+n, nil))
		xhook.OnReady(ctx, n, note(&log, "ready"+n, nil))
		xhook.OnDrain(ctx, n, note(&log, "drain"+n, nil))
		xhook.OnStop(ctx, n, note(&log, "stop"+n, nil))
		l.OnClose(n, note(&log, "close"+n, nil))
	}
	for _, run := range []func(context.Context) error{l.Start, l.Ready, l.Drain, l.Stop, l.Stop} {
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
}

func TestFirstErrorEndsTheStartAndNamesTheHook(t *testing.T) {
	boom := errors.New("boom")
	l := xhook.New()
	var log []string
	l.OnStart("a", note(&log, "a", nil))
	l.OnStart("b", note(&log, "b", boom))
	l.OnStart("c", note(&log, "c", nil))
	err := l.Start(t.Context())
	if !errors.Is(err, boom) || err.Error() != `start hook "b": boom` {
		t.Errorf("Start = %v, want the error of hook b", err)
	}
	if !slices.Equal(log, []string{"a", "b"}) {
		t.Errorf("ran %v, want a and b", log)
	}
}

func TestReadyErrorKeepsTheStateStarting(t *testing.T) {
	l := xhook.New()
	l.OnReady("a", func(context.Context) error { return errors.New("no") })
	if err := l.Ready(t.Context()); err == nil {
		t.Error("Ready = nil, want the error")
	}
	if l.State() != xhook.StateStarting {
		t.Errorf("state = %s, want starting", l.State())
	}
}

func TestAllStopHooksRunWhateverTheirErrors(t *testing.T) {
	one, two := errors.New("one"), errors.New("two")
	l := xhook.New()
	var log []string
	l.OnStop("a", note(&log, "a", one))
	l.OnStop("b", note(&log, "b", nil))
	l.OnStop("c", note(&log, "c", two))
	err := l.Stop(t.Context())
	if !errors.Is(err, one) || !errors.Is(err, two) {
		t.Errorf("Stop = %v, want both errors", err)
	}
	if !slices.Equal(log, []string{"c", "b", "a"}) {
		t.Errorf("ran %v, want c b a", log)
	}
}

func TestPanicInAHookIsAnErrorWithAStack(t *testing.T) {
	cause := errors.New("cause")
	l := xhook.New()
	l.OnStop("a", func(context.Context) error { panic(cause) })
	err := l.Stop(t.Context())
	var p *xhook.PanicError
	if !errors.As(err, &p) || len(p.Stack) == 0 || !errors.Is(err, cause) {
		t.Errorf("Stop = %#v, want a *PanicError with a stack and its cause", err)
	}
}

func TestHookThatHangsIsLeftBehindWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		l := xhook.New()
		var log []string
		l.OnStop("after", note(&log, "after", nil))
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
}

func TestHookAddedByAHookOfTheSamePhaseRuns(t *testing.T) {
	l := xhook.New()
	var log []string
	l.OnStop("outer", func(context.Context) error {
		if !l.OnStop("inner", note(&log, "inner", nil)) {
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
	if l.OnStop("late", note(&log, "late", nil)) {
		t.Error("OnStop = true after the stop hooks have run")
	}
}

func TestStateMovesForwardOnly(t *testing.T) {
	l := xhook.New()
	var got []string
	see := func() { got = append(got, l.State().String()) }
	see()
	_ = l.Ready(t.Context())
	see()
	l.StartDrain()
	see()
	_ = l.Ready(t.Context())
	see()
	_ = l.Stop(t.Context())
	see()
	if want := []string{
		"starting", "ready", "draining", "draining",
		"stopped",
	}; !slices.Equal(got, want) {
		t.Errorf("states = %v, want %v", got, want)
	}
}

func TestDrainingIsClosedByTheFirstMomentOfTheStop(t *testing.T) {
	l := xhook.New()
	ctx := xhook.NewContext(t.Context(), l)
	select {
	case <-xhook.Draining(ctx):
		t.Fatal("closed before the stop")
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

func TestFailKeepsTheFirstError(t *testing.T) {
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
}

func TestFailWithoutAnErrorIsStillAFailure(t *testing.T) {
	l := xhook.New()
	l.Fail(nil)
	if l.Err() == nil {
		t.Error("Err = nil, want an error")
	}
}

func TestContextWithoutALifeSaysThatNothingWillRun(t *testing.T) {
	fn := func(context.Context) error { return nil }
	ctx := t.Context()
	for name, got := range map[string]bool{
		"OnStart": xhook.OnStart(ctx, "a", fn), "OnReady": xhook.OnReady(ctx, "a", fn),
		"OnDrain": xhook.OnDrain(ctx, "a", fn), "OnShutdown": xhook.OnShutdown(ctx, "a", fn),
		"OnStop":    xhook.OnStop(ctx, "a", fn),
		"AddHealth": xhook.AddHealth(ctx, "a", fn), "Fail": xhook.Fail(ctx, errors.New("x")),
	} {
		if got {
			t.Errorf("%s = true, want false", name)
		}
	}
	var l *xhook.Lifecycle
	if l.State() != xhook.StateStarting || l.Check(ctx) != nil || xhook.Draining(ctx) != nil ||
		xhook.Readied(ctx) != nil {
		t.Error("a nil life holds something")
	}
	if xhook.From(nil) != nil { //nolint:staticcheck // a nil context is what the line is about
		t.Error("From(nil) found a life")
	}
}

func ExampleOnStop() {
	// In a node: what it started ends with the service.
	start := func(ctx context.Context) (any, error) {
		if !xhook.OnStop(ctx, "mailer", func(context.Context) error {
			fmt.Println("mails are sent")
			return nil
		}) {
			return nil, errors.New("no application")
		}
		return "mailer", nil
	}

	l := xhook.New() // in a program, xreg does this and xmain the rest
	if _, err := start(xhook.NewContext(context.Background(), l)); err != nil {
		fmt.Println(err)
	}
	_ = l.Stop(context.Background())
	// Output: mails are sent
}

func TestEndOfTheContextEndsTheStart(t *testing.T) {
	why := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	l := xhook.New()
	var log []string
	l.OnReady("a", func(context.Context) error { cancel(why); return nil })
	l.OnReady("b", note(&log, "b", nil))
	if err := l.Ready(ctx); !errors.Is(err, why) || l.State() != xhook.StateStarting {
		t.Errorf("Ready = %v, state = %s; want the cause of the context, and starting",
			err, l.State())
	}
	l.OnStart("c", note(&log, "c", nil))
	if err := l.Start(ctx); !errors.Is(err, why) || len(log) > 0 {
		t.Errorf("Start = %v and ran %v, want the cause of the context and no hook", err, log)
	}
}
