package jobtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"reflect"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/common/xutil"
)

// call is a call of a method that uses the store.
type call struct {
	name string
	do   func(ctx context.Context, e driver.Engine, id string) error
}

var calls = []call{
	{"Insert", func(ctx context.Context, e driver.Engine, _ string) error {
		return e.Insert(ctx, []driver.Job{newJob()})
	}},
	{"Get", func(ctx context.Context, e driver.Engine, id string) error {
		_, err := e.Get(ctx, id)
		return err
	}},
	{"List", func(ctx context.Context, e driver.Engine, _ string) error {
		_, err := e.List(ctx, driver.Query{State: driver.Waiting, Limit: 10})
		return err
	}},
	{"Replay", func(ctx context.Context, e driver.Engine, id string) error {
		return e.Replay(ctx, id)
	}},
	{"Delete", func(ctx context.Context, e driver.Engine, id string) error {
		return e.Delete(ctx, id)
	}},
	{"Ping", func(ctx context.Context, e driver.Engine, _ string) error { return e.Ping(ctx) }},
}

var callChecks = []check{
	{"Calls/Capabilities", func(t *testing.T, e *env) {
		if capabilities := e.Capabilities(); capabilities.Name == "" ||
			capabilities.TakeoverTimeout <= 0 {
			t.Errorf("Capabilities = %+v, want a name and a takeover timeout", capabilities)
		}
		if got := e.Capabilities().Interface; got != driver.InterfaceVersion {
			t.Errorf("Capabilities.Interface = %d, want %d: see the changes in package driver",
				got, driver.InterfaceVersion)
		}
	}},
	{"Calls/Ping", func(t *testing.T, e *env) {
		if err := e.Ping(e.ctx); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}},
	{"Calls/ReturnContextError", func(t *testing.T, e *env) {
		j := newJob(delay(time.Hour))
		e.insert(t, j)
		canceled, cancel := context.WithCancel(e.ctx)
		cancel()
		late, cancel := context.WithDeadline(e.ctx, time.Now().Add(-time.Second))
		defer cancel()
		for _, c := range calls {
			wantErr(t, c.name+" with a canceled context", c.do(canceled, e, j.ID), context.Canceled)
			wantErr(t, c.name+" with an exceeded deadline",
				c.do(late, e, j.ID), context.DeadlineExceeded)
		}
		wantIDs(t, "the list",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 10}), []string{j.ID})
	}},
	{"Calls/FailAfterClose", func(t *testing.T, e *env) {
		r := e.connect(t)
		r.insert(t, newJob())
		if err := r.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		for _, c := range calls {
			wantErr(t, c.name+" after Close",
				c.do(r.ctx, r.Engine, xutil.UUID().V7()), driver.ErrClosed)
		}
		ctx, cancel := context.WithTimeout(r.ctx, e.h.Timeout)
		defer cancel()
		err := r.Work(ctx, driver.Work{
			Kinds: []string{kind}, Concurrency: 1, PollInterval: poll, MaxDuration: e.h.MaxDuration,
			Run: func(context.Context, driver.Attempt) driver.Outcome {
				return driver.Outcome{}
			},
			OnError: func(context.Context, string, error) {},
		})
		wantErr(t, "Work after Close", err, driver.ErrClosed)
		if err := r.Close(); err != nil && !errors.Is(err, driver.ErrClosed) {
			t.Errorf("the second Close = %v, want nil or %v", err, driver.ErrClosed)
		}
		if err := e.Ping(e.ctx); err != nil {
			t.Errorf("Ping of another replica = %v, want nil", err)
		}
	}},
	{"Calls/NoGoroutineLeaks", func(t *testing.T, e *env) {
		const label = "jobtest"
		name := rand.Text()
		pprof.Do(t.Context(), pprof.Labels(label, name), func(context.Context) {
			r := e.connect(t)
			j := newJob()
			r.insert(t, j)
			w := r.work(t)
			w.nextOf(t, j.ID, 1).ok()
			r.awaitDone(t, j.ID)
			w.stop(t)
			if err := r.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		pkg := reflect.Indirect(reflect.ValueOf(e.Replica.Engine)).Type().PkgPath()
		left := ""
		for start := time.Now(); time.Since(start) < 5*time.Second; sleep(20 * time.Millisecond) {
			if left = goroutines(name, pkg); left == "" {
				return
			}
		}
		t.Errorf("goroutines of the engine leak after Close:\n%s", left)
	}},
}

// goroutines returns the stacks of goroutines with the label in pkg.
func goroutines(label, pkg string) string {
	var profile bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&profile, 1)
	var left []string
	for stack := range strings.SplitSeq(profile.String(), "\n\n") {
		if strings.Contains(stack, label) && strings.Contains(stack, pkg+".") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}
