package xhook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

func TestLifecycle_Shutdown(t *testing.T) {
	t.Run("hooks run concurrently", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			ctx := xhook.NewContext(t.Context(), l)
			one, two := make(chan struct{}), make(chan struct{})
			closeAndWait := func(running, other chan struct{}) xhook.Func {
				return func(context.Context) error {
					close(running)
					<-other
					return nil
				}
			}
			if !xhook.OnShutdown(ctx, "one", closeAndWait(one, two)) ||
				!xhook.OnShutdown(ctx, "two", closeAndWait(two, one)) {
				t.Fatal("OnShutdown = false before the shutdown")
			}
			if err := l.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			if l.OnShutdown("late", func(context.Context) error { return nil }) {
				t.Error("OnShutdown = true after the shutdown")
			}
			if err := l.Shutdown(ctx); err != nil {
				t.Errorf("second Shutdown = %v, want nil", err)
			}
		})
	})

	t.Run("only the hook that ignores its context is abandoned", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			defer close(release)
			l := xhook.New()
			var log []string
			l.OnShutdown("hangs", func(context.Context) error { <-release; return nil })
			l.OnShutdown("returns", func(ctx context.Context) error {
				<-ctx.Done()
				return record(&log, "returns", nil)(ctx)
			})
			timeout := errors.New("timed out")
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, timeout)
			defer cancel()
			start := time.Now()
			err := l.Shutdown(ctx)
			if !errors.Is(err, timeout) ||
				!strings.Contains(err.Error(), `shutdown hook "hangs": still running`) {
				t.Errorf("Shutdown = %v, want the name of the hook that hangs", err)
			}
			if got := time.Since(start); got != time.Second {
				t.Errorf("Shutdown took %s, want 1s", got)
			}
		})
	})

	t.Run("errors of all hooks are joined", func(t *testing.T) {
		one, cause := errors.New("one"), errors.New("cause")
		l := xhook.New()
		l.OnShutdown("a", func(context.Context) error { return one })
		l.OnShutdown("b", func(context.Context) error { panic(cause) })
		l.OnShutdown("c", func(context.Context) error { return nil })
		err := l.Shutdown(t.Context())
		var p *xhook.PanicError
		if !errors.Is(err, one) || !errors.Is(err, cause) || !errors.As(err, &p) ||
			len(p.Stack) == 0 {
			t.Errorf("Shutdown = %v, want both errors and the stack of the panic", err)
		}
		for _, name := range []string{`shutdown hook "a": one`, `shutdown hook "b": panic: cause`} {
			if !strings.Contains(err.Error(), name) {
				t.Errorf("Shutdown = %v, want %s", err, name)
			}
		}
	})

	t.Run("a running hook cannot add a hook", func(t *testing.T) {
		l := xhook.New()
		l.OnShutdown("outer", func(context.Context) error {
			if l.OnShutdown("inner",
				func(context.Context) error { t.Error("the hook ran"); return nil }) {
				t.Error("OnShutdown = true while a shutdown hook runs")
			}
			return nil
		})
		if err := l.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})

	t.Run("hooks run if the service never became ready", func(t *testing.T) {
		l := xhook.New()
		var log []string
		l.OnShutdown("a", record(&log, "a", nil))
		if err := l.Shutdown(t.Context()); err != nil || len(log) != 1 {
			t.Errorf("Shutdown = %v, ran %v; want the hook", err, log)
		}
		if l.State() != xhook.StateDraining {
			t.Errorf("state = %s, want draining: it must not become ready", l.State())
		}
	})
}

func ExampleOnShutdown() {
	// A task with its own server drains it together with the HTTP server.
	serve := func(ctx context.Context) {
		xhook.OnShutdown(ctx, "grpc", func(context.Context) error {
			fmt.Println("calls drained")
			return nil
		})
	}

	l := xhook.New() // xreg and xmain do this for an application
	serve(xhook.NewContext(context.Background(), l))
	_ = l.Shutdown(context.Background())
	// Output: calls drained
}
