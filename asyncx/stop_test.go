package asyncx_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/asyncx/backoff"
)

func TestAsync_Shutdown(t *testing.T) {
	t.Run("waits for tasks and the tasks that they start", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			app, lifecycle, _ := application(t)
			var order []string
			asyncx.Async(app, func(ctx context.Context) {
				<-time.After(time.Second)
				order = append(order, "first")
				asyncx.AsyncErr(ctx, func(context.Context) error {
					<-time.After(time.Second)
					order = append(order, "second")
					if len(order) == 2 {
						return errWork // causes a retry
					}
					return nil
				}, asyncx.WithRetry(2, backoff.Constant(time.Second)))
			})
			start := time.Now()
			if err := stop(lifecycle, time.Minute); err != nil {
				t.Error(err)
			}
			if elapsed := time.Since(start); elapsed != 4*time.Second || len(order) != 3 {
				t.Errorf("shutdown took %s and ran %v, want 4s for 3 attempts", elapsed, order)
			}
			if err := asyncx.Async(app, func(context.Context) {
				t.Error("the task ran")
			}).Wait(t.Context()); !errors.Is(err, asyncx.ErrStopped) {
				t.Errorf("err = %v, want ErrStopped", err)
			}
		})
	})

	t.Run("cancels the remaining tasks and returns their names", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			app, lifecycle, _ := application(t)
			if _, err := asyncx.Init(asyncx.WithConcurrency(1))(app); err != nil {
				t.Fatal(err)
			}
			cooperative := asyncx.AsyncErr(app, func(ctx context.Context) error {
				<-ctx.Done()
				return context.Cause(ctx)
			}, asyncx.WithName("cooperative"))
			queued := asyncx.Async(app, func(context.Context) { t.Error("the task started") },
				asyncx.WithName("queued"))
			start := time.Now()
			err := stop(lifecycle, 10*time.Second)
			if elapsed := time.Since(start); elapsed != 8*time.Second {
				t.Errorf("shutdown took %s, want 8s", elapsed)
			}
			if !errors.Is(err, asyncx.ErrStopped) ||
				!strings.Contains(err.Error(), "canceled: cooperative, queued") {
				t.Errorf("err = %v, want the names of the canceled tasks", err)
			}
			for _, h := range []*asyncx.Handle{cooperative, queued} {
				if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrStopped) {
					t.Errorf("%s: err = %v, want ErrStopped", h.Name(), err)
				}
			}
		})
	})

	t.Run("abandons tasks that do not return", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			app, lifecycle, _ := application(t)
			release := make(chan struct{})
			h := asyncx.Async(app, func(context.Context) { <-release }, asyncx.WithName("stuck"))
			err := stop(lifecycle, 10*time.Second)
			if err == nil || !strings.Contains(err.Error(), "stuck") {
				t.Errorf("err = %v, want the name of the abandoned task", err)
			}
			close(release)
			_ = h.Wait(t.Context())
		})
	})
}

func TestHandle_Wait(t *testing.T) {
	t.Run("returns when its context is canceled", func(t *testing.T) {
		release := make(chan struct{})
		h := asyncx.Async(t.Context(), func(context.Context) { <-release })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want context.Canceled", err)
		}
		close(release)
		<-h.Done()
	})

	t.Run("wraps the cause of the cancellation", func(t *testing.T) {
		started := make(chan struct{})
		h := asyncx.AsyncErr(t.Context(), func(ctx context.Context) error {
			close(started)
			<-ctx.Done()
			return ctx.Err()
		})
		<-started
		h.Cancel()
		if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrCanceled) ||
			!errors.Is(err, context.Canceled) {
			t.Errorf("err = %v, want ErrCanceled and the error of the task", err)
		}
	})
}

func TestAsync_Concurrency(t *testing.T) {
	app, lifecycle, _ := application(t)
	var ran atomic.Int32
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			for range 100 {
				asyncx.Async(app, func(context.Context) { ran.Add(1) })
			}
		})
	}
	all.Wait()
	if err := stop(lifecycle, time.Minute); err != nil {
		t.Error(err)
	}
	if got := ran.Load(); got != 5000 {
		t.Errorf("%d tasks ran, want 5000", got)
	}
}

func TestAsync_Goexit(t *testing.T) {
	app, lifecycle, _ := application(t)
	if _, err := asyncx.Init(asyncx.WithConcurrency(1))(app); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := asyncx.Async(app,
			func(context.Context) { runtime.Goexit() }).Wait(t.Context()); err == nil {
			t.Error("Wait = nil after runtime.Goexit, want an error")
		}
	}
	if err := asyncx.Async(app, func(context.Context) {}).Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := stop(lifecycle, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestWithRetry_PolicyPanic(t *testing.T) {
	app, lifecycle, out := application(t)
	h := asyncx.AsyncErr(app, func(context.Context) error { return errWork },
		asyncx.WithRetry(2, func(int) time.Duration { panic("no wait") }))
	if err := h.Wait(t.Context()); !errors.Is(err, errWork) {
		t.Errorf("err = %v, want the error of the task", err)
	}
	if !strings.Contains(out.String(), "no wait") {
		t.Errorf("the log does not report the panic of the policy:\n%s", out)
	}
	if err := stop(lifecycle, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestAsync_Memory(t *testing.T) {
	app, lifecycle, _ := application(t)
	var collected atomic.Int32
	const many = 50
	for range many {
		func() {
			data := new([1 << 16]byte)
			runtime.AddCleanup(data, func(struct{}) { collected.Add(1) }, struct{}{})
			<-asyncx.Async(app, func(context.Context) { data[0] = 1 }).Done()
		}()
	}
	for end := time.Now().Add(10 * time.Second); collected.Load() < many-5 &&
		time.Now().Before(end); {
		runtime.GC()
		runtime.Gosched()
	}
	if got := collected.Load(); got < many-5 {
		t.Errorf("the memory of %d of %d tasks was released", got, many)
	}
	if err := stop(lifecycle, time.Minute); err != nil {
		t.Error(err)
	}
}
