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

func TestStopAwaitsWorkAndWhatThatBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, life, _ := application(t)
		var order []string
		asyncx.Async(app, func(ctx context.Context) {
			<-time.After(time.Second)
			order = append(order, "first")
			asyncx.AsyncErr(ctx, func(context.Context) error {
				<-time.After(time.Second)
				order = append(order, "second")
				if len(order) == 2 {
					return errWork // and so it waits for another attempt
				}
				return nil
			}, asyncx.WithRetry(2, backoff.Constant(time.Second)))
		})
		began := time.Now()
		if err := stop(life, time.Minute); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 4*time.Second || len(order) != 3 {
			t.Errorf("the stop took %s and did %v, want 4s for three attempts", took, order)
		}
		if err := asyncx.Async(app, func(context.Context) {
			t.Error("it ran")
		}).Wait(t.Context()); !errors.Is(err, asyncx.ErrStopped) {
			t.Errorf("err = %v, want ErrStopped", err)
		}
	})
}

func TestStopCutsOffInTimeAndNamesWhat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, life, _ := application(t)
		if _, err := asyncx.Init(asyncx.WithConcurrency(1))(app); err != nil {
			t.Fatal(err)
		}
		obedient := asyncx.AsyncErr(app, func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}, asyncx.WithName("obedient"))
		queued := asyncx.Async(app, func(context.Context) { t.Error("it began") },
			asyncx.WithName("queued"))
		began := time.Now()
		err := stop(life, 10*time.Second)
		if took := time.Since(began); took != 8*time.Second {
			t.Errorf("the stop took %s, want 8s", took)
		}
		if !errors.Is(err, asyncx.ErrStopped) ||
			!strings.Contains(err.Error(), "cut off: obedient, queued") {
			t.Errorf("err = %v, want the names of what was cut off", err)
		}
		for _, h := range []*asyncx.Handle{obedient, queued} {
			if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrStopped) {
				t.Errorf("%s: err = %v, want ErrStopped", h.Name(), err)
			}
		}
	})
}

func TestStopLeavesBehindWhatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, life, _ := application(t)
		release := make(chan struct{})
		h := asyncx.Async(app, func(context.Context) { <-release }, asyncx.WithName("deaf"))
		err := stop(life, 10*time.Second)
		if err == nil || !strings.Contains(err.Error(), "deaf") {
			t.Errorf("err = %v, want the name of what was left behind", err)
		}
		close(release)
		_ = h.Wait(t.Context())
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	release := make(chan struct{})
	h := asyncx.Async(t.Context(), func(context.Context) { <-release })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	close(release)
	<-h.Done()
}

func TestManyAtOnceAllRun(t *testing.T) {
	app, life, _ := application(t)
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
	if err := stop(life, time.Minute); err != nil {
		t.Error(err)
	}
	if got := ran.Load(); got != 5000 {
		t.Errorf("%d ran, want 5000", got)
	}
}

func TestWorkThatExitsItsGoroutineFailsAndKeepsNoPlace(t *testing.T) {
	app, life, _ := application(t)
	if _, err := asyncx.Init(asyncx.WithConcurrency(1))(app); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := asyncx.Async(app,
			func(context.Context) { runtime.Goexit() }).Wait(t.Context()); err == nil {
			t.Error("no error")
		}
	}
	if err := asyncx.Async(app, func(context.Context) {}).Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := stop(life, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestPolicyThatPanicsEndsTheWork(t *testing.T) {
	app, life, out := application(t)
	h := asyncx.AsyncErr(app, func(context.Context) error { return errWork },
		asyncx.WithRetry(2, func(int) time.Duration { panic("no wait") }))
	if err := h.Wait(t.Context()); !errors.Is(err, errWork) {
		t.Errorf("err = %v, want that of the work", err)
	}
	if !strings.Contains(out.String(), "no wait") {
		t.Errorf("the log does not tell of the policy:\n%s", out)
	}
	if err := stop(life, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestErrorSaysWhyTheContextEnded(t *testing.T) {
	began := make(chan struct{})
	h := asyncx.AsyncErr(t.Context(), func(ctx context.Context) error {
		close(began)
		<-ctx.Done()
		return ctx.Err()
	})
	<-began
	h.Cancel()
	if err := h.Wait(t.Context()); !errors.Is(err, asyncx.ErrCanceled) ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want ErrCanceled and what the work returned", err)
	}
}

func TestWorkThatHasEndedIsForgotten(t *testing.T) {
	app, life, _ := application(t)
	var collected atomic.Int32
	const many = 50
	for range many {
		func() {
			kept := new([1 << 16]byte)
			runtime.AddCleanup(kept, func(struct{}) { collected.Add(1) }, struct{}{})
			<-asyncx.Async(app, func(context.Context) { kept[0] = 1 }).Done()
		}()
	}
	for end := time.Now().Add(10 * time.Second); collected.Load() < many-5 &&
		time.Now().Before(end); {
		runtime.GC()
		runtime.Gosched()
	}
	if got := collected.Load(); got < many-5 {
		t.Errorf("the memory of %d of %d pieces of work was given back", got, many)
	}
	if err := stop(life, time.Minute); err != nil {
		t.Error(err)
	}
}
