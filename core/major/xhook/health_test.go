package xhook_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// delay returns a check that succeeds after d unless its context is done first.
func delay(d time.Duration) xhook.Func {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestLifecycle_Check(t *testing.T) {
	t.Run("runs all checks concurrently and returns results in order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := xhook.New()
			l.AddHealth("slow", delay(time.Second))
			l.AddHealth("fast", delay(time.Millisecond))
			start := time.Now()
			got := l.Check(t.Context())
			if d := time.Since(start); d != time.Second {
				t.Errorf("took %s, want the slowest check's 1s", d)
			}
			want := []xhook.Health{
				{Name: "slow", OK: true, Latency: time.Second},
				{Name: "fast", OK: true, Latency: time.Millisecond},
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("check %d = %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	})

	t.Run("a check that hangs times out and is not started twice", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			var calls atomic.Int32
			l := xhook.New()
			l.AddHealth("hangs", func(context.Context) error {
				calls.Add(1)
				<-release
				return nil
			})
			for range 3 {
				h := l.Check(t.Context())[0]
				if h.OK || !errors.Is(h.Err, context.DeadlineExceeded) ||
					h.Latency != xhook.CheckTimeout {
					t.Errorf("check = %+v, want a deadline after %s", h, xhook.CheckTimeout)
				}
			}
			if calls.Load() != 1 {
				t.Errorf("started %d times, want once", calls.Load())
			}
			close(release)
			synctest.Wait()
			if h := l.Check(t.Context())[0]; !h.OK || calls.Load() != 2 {
				t.Errorf("after the release: %+v with %d calls, want a new healthy run",
					h, calls.Load())
			}
		})
	})

	t.Run("concurrent callers share one run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int32
			l := xhook.New()
			l.AddHealth("a", func(ctx context.Context) error {
				calls.Add(1)
				return delay(time.Second)(ctx)
			})
			var wg sync.WaitGroup
			canceled, cancel := context.WithCancel(t.Context())
			wg.Go(func() { l.Check(canceled) })
			synctest.Wait()
			for range 10 {
				wg.Go(func() {
					if h := l.Check(t.Context())[0]; !h.OK {
						t.Errorf("check = %+v, want OK although the first caller was canceled", h)
					}
				})
			}
			synctest.Wait()
			cancel()
			wg.Wait()
			if calls.Load() != 1 {
				t.Errorf("ran %d times, want once", calls.Load())
			}
		})
	})

	t.Run("a panic fails the check", func(t *testing.T) {
		l := xhook.New()
		l.AddHealth("a", func(context.Context) error { panic("no") })
		if h := l.Check(t.Context())[0]; h.OK || h.Err == nil {
			t.Errorf("check = %+v, want an error", h)
		}
	})
}

func TestDegraded(t *testing.T) {
	l := xhook.New()
	l.AddHealth("pool", func(context.Context) error {
		return fmt.Errorf("node: %w", xhook.Degraded("saturated"))
	})
	got := l.Check(t.Context())[0]
	got.Latency = 0
	if want := (xhook.Health{Name: "pool", OK: true, State: "saturated"}); got != want {
		t.Errorf("Check = %+v, want %+v", got, want)
	}
}
