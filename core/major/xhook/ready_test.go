package xhook_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// closed reports whether c is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hold takes a hold that must be granted.
func hold(t *testing.T, l *xhook.Lifecycle, name string) (release func()) {
	t.Helper()
	release, held := l.HoldReady(name)
	if !held {
		t.Fatalf("HoldReady(%s) = false, want a hold", name)
	}
	return release
}

func TestReadinessWaitsForEveryHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := xhook.New()
		ctx := xhook.NewContext(t.Context(), l)
		one, two := hold(t, l, "one"), hold(t, l, "two")
		done := make(chan error, 1)
		go func() { done <- l.Ready(ctx) }()
		for range 2 { // the second release of the same hold counts for no other one
			one()
			synctest.Wait()
			if l.State() != xhook.StateStarting || closed(xhook.Readied(ctx)) || len(done) > 0 {
				t.Fatalf("state = %s with an open hold, want starting", l.State())
			}
		}
		two()
		if err := <-done; err != nil || l.State() != xhook.StateReady ||
			!closed(xhook.Readied(ctx)) {
			t.Errorf("Ready = %v, state = %s; want ready", err, l.State())
		}
		two()
	})
}

func TestReadyHooksRunWhenTheHoldsAreReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := xhook.New()
		var log []string
		l.OnReady("a", note(&log, "hook", nil))
		release := hold(t, l, "grpc")
		go func() {
			synctest.Wait()
			log = append(log, "listening")
			release()
		}()
		if err := l.Ready(t.Context()); err != nil ||
			!slices.Equal(log, []string{"listening", "hook"}) {
			t.Errorf("Ready = %v, order = %v; want the hook after the release", err, log)
		}
	})
}

func TestHoldTakenByAReadyHookIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := xhook.New()
		l.OnReady("a", func(context.Context) error {
			time.AfterFunc(time.Minute, hold(t, l, "late"))
			return nil
		})
		began := time.Now()
		if err := l.Ready(t.Context()); err != nil || time.Since(began) != time.Minute {
			t.Errorf("Ready = %v after %s, want it after the release", err, time.Since(began))
		}
	})
}

func TestReadyWhoseContextEndsNamesTheOpenHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := xhook.New()
		hold(t, l, "grpc")
		hold(t, l, "released")()
		hold(t, l, "metrics")
		why := errors.New("told to stop")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, why)
		defer cancel()
		err := l.Ready(ctx)
		if !errors.Is(err, why) ||
			err.Error() != `not ready: held by "grpc", "metrics": told to stop` {
			t.Errorf("Ready = %v, want both holds named", err)
		}
		if l.State() != xhook.StateStarting || closed(l.Readied()) {
			t.Errorf("state = %s, want starting", l.State())
		}
	})
}

func TestFailureKeepsTheServiceFromReadiness(t *testing.T) {
	cause := errors.New("port in use")
	for _, tc := range []struct {
		name string
		fail func(t *testing.T, l *xhook.Lifecycle)
	}{
		{name: "before", fail: func(_ *testing.T, l *xhook.Lifecycle) { l.Fail(cause) }},
		{name: "while a hold is open", fail: func(t *testing.T, l *xhook.Lifecycle) {
			hold(t, l, "grpc")
			time.AfterFunc(time.Second, func() { l.Fail(cause) })
		}},
		{name: "with the release", fail: func(t *testing.T, l *xhook.Lifecycle) {
			release := hold(t, l, "grpc")
			time.AfterFunc(time.Second, func() { l.Fail(cause); release() })
		}},
		{name: "in a ready hook", fail: func(_ *testing.T, l *xhook.Lifecycle) {
			l.OnReady("a", func(context.Context) error { l.Fail(cause); return nil })
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := xhook.New()
				tc.fail(t, l)
				if err := l.Ready(t.Context()); !errors.Is(err, cause) {
					t.Errorf("Ready = %v, want the failure", err)
				}
				if l.State() != xhook.StateStarting || closed(l.Readied()) {
					t.Errorf("state = %s, want starting", l.State())
				}
			})
		})
	}
}

func TestStopEndsTheWaitForHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := xhook.New()
		hold(t, l, "grpc")
		time.AfterFunc(time.Second, l.StartDrain)
		if err := l.Ready(t.Context()); err == nil ||
			!strings.Contains(err.Error(), `held by "grpc"`) {
			t.Errorf("Ready = %v, want the hold named", err)
		}
		if l.State() != xhook.StateDraining || closed(l.Readied()) {
			t.Errorf("state = %s, readied = %t; want draining and never ready",
				l.State(), closed(l.Readied()))
		}
	})
}

func TestHoldAfterItsMomentIsNone(t *testing.T) {
	ready, draining := xhook.New(), xhook.New()
	if err := ready.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	draining.StartDrain()
	for _, tc := range []struct {
		name string
		ctx  context.Context
	}{
		{name: "ready", ctx: xhook.NewContext(t.Context(), ready)},
		{name: "draining", ctx: xhook.NewContext(t.Context(), draining)},
		{name: "no application", ctx: t.Context()},
		{name: "no context", ctx: nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			release, held := xhook.HoldReady(tc.ctx, "late")
			if held {
				t.Error("HoldReady = true, want false")
			}
			release() // it may be called all the same
		})
	}
}

func TestHoldsMayBeTakenAndReleasedByAnyGoroutine(t *testing.T) {
	l := xhook.New()
	last := hold(t, l, "last")
	done := make(chan error, 1)
	go func() { done <- l.Ready(t.Context()) }()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			release := hold(t, l, fmt.Sprint(i))
			wg.Go(release)
			release()
		})
	}
	wg.Wait()
	if l.State() != xhook.StateStarting {
		t.Errorf("state = %s with an open hold", l.State())
	}
	last()
	if err := <-done; err != nil || !closed(l.Readied()) {
		t.Errorf("Ready = %v, want ready", err)
	}
}

func ExampleHoldReady() {
	// A task that must listen before the service may report ready.
	serve := func(ctx context.Context) {
		release, _ := xhook.HoldReady(ctx, "grpc")
		defer release()
		fmt.Println("listening")
	}

	l := xhook.New() // in a program, xreg does this and xmain the rest
	ctx := xhook.NewContext(context.Background(), l)
	serve(ctx)
	_ = l.Ready(ctx)
	fmt.Println(l.State())
	// Output:
	// listening
	// ready
}
