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

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// hold calls HoldReady and fails the test if it returns false.
func hold(t *testing.T, l *xhook.Lifecycle, name string) (release func()) {
	t.Helper()
	release, held := l.HoldReady(name)
	if !held {
		t.Fatalf("HoldReady(%s) = false, want a hold", name)
	}
	return release
}

func TestHoldReady(t *testing.T) {
	t.Run("the service is not ready until every hold is released", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			ctx := xhook.NewContext(t.Context(), l)
			one, two := hold(t, l, "one"), hold(t, l, "two")
			done := make(chan error, 1)
			go func() { done <- l.SetReady(ctx) }()
			for range 2 { // releasing a hold twice must not release the other
				one()
				synctest.Wait()
				if l.State() != xhook.StateStarting || isClosed(xhook.Ready(ctx)) ||
					len(done) > 0 {
					t.Fatalf("state = %s with an open hold, want starting", l.State())
				}
			}
			two()
			if err := <-done; err != nil || l.State() != xhook.StateReady ||
				!isClosed(xhook.Ready(ctx)) {
				t.Errorf("SetReady = %v, state = %s; want ready", err, l.State())
			}
			two()
		})
	})

	t.Run("ready hooks run after the holds are released", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			var log []string
			l.OnReady("a", record(&log, "hook", nil))
			release := hold(t, l, "grpc")
			go func() {
				synctest.Wait()
				log = append(log, "listening")
				release()
			}()
			if err := l.SetReady(t.Context()); err != nil ||
				!slices.Equal(log, []string{"listening", "hook"}) {
				t.Errorf("SetReady = %v, order = %v; want the hook after the release", err, log)
			}
		})
	})

	t.Run("a ready hook can add a hold", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			l.OnReady("a", func(context.Context) error {
				time.AfterFunc(time.Minute, hold(t, l, "late"))
				return nil
			})
			start := time.Now()
			if err := l.SetReady(t.Context()); err != nil || time.Since(start) != time.Minute {
				t.Errorf("SetReady = %v after %s, want nil after 1m0s", err, time.Since(start))
			}
		})
	})

	t.Run("returns false unless the service is starting", func(t *testing.T) {
		ready, draining := xhook.New(), xhook.New()
		if err := ready.SetReady(t.Context()); err != nil {
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
				release() // must not panic
			})
		}
	})

	t.Run("is safe for concurrent use", func(t *testing.T) {
		l := xhook.New()
		last := hold(t, l, "last")
		done := make(chan error, 1)
		go func() { done <- l.SetReady(t.Context()) }()
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
		if err := <-done; err != nil || !isClosed(l.Ready()) {
			t.Errorf("SetReady = %v, want ready", err)
		}
	})
}

func TestLifecycle_SetReady(t *testing.T) {
	t.Run("cancellation reports the unreleased holds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			hold(t, l, "grpc")
			hold(t, l, "released")()
			hold(t, l, "metrics")
			cause := errors.New("stop requested")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
			defer cancel()
			err := l.SetReady(ctx)
			if !errors.Is(err, cause) ||
				err.Error() != `not ready: held by "grpc", "metrics": stop requested` {
				t.Errorf("SetReady = %v, want both hold names", err)
			}
			if l.State() != xhook.StateStarting || isClosed(l.Ready()) {
				t.Errorf("state = %s, want starting", l.State())
			}
		})
	})

	t.Run("fails if the service has failed", func(t *testing.T) {
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
					if err := l.SetReady(t.Context()); !errors.Is(err, cause) {
						t.Errorf("SetReady = %v, want the failure", err)
					}
					if l.State() != xhook.StateStarting || isClosed(l.Ready()) {
						t.Errorf("state = %s, want starting", l.State())
					}
				})
			})
		}
	})

	t.Run("fails if the shutdown starts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			hold(t, l, "grpc")
			time.AfterFunc(time.Second, l.StartDrain)
			if err := l.SetReady(t.Context()); err == nil ||
				!strings.Contains(err.Error(), `held by "grpc"`) {
				t.Errorf("SetReady = %v, want the hold name", err)
			}
			if l.State() != xhook.StateDraining || isClosed(l.Ready()) {
				t.Errorf("state = %s, ready = %t; want draining and not ready",
					l.State(), isClosed(l.Ready()))
			}
		})
	})
}

func ExampleHoldReady() {
	// A task that must listen before the service reports ready.
	serve := func(ctx context.Context) {
		release, _ := xhook.HoldReady(ctx, "grpc")
		defer release()
		fmt.Println("listening")
	}

	l := xhook.New() // xreg and xmain do this for an application
	ctx := xhook.NewContext(context.Background(), l)
	serve(ctx)
	_ = l.SetReady(ctx)
	fmt.Println(l.State())
	// Output:
	// listening
	// ready
}
