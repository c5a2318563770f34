package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// canceledWorker returns a canceled worker and its running attempt.
func canceledWorker(t *testing.T, e *env) (*worker, *attempt) {
	t.Helper()
	j := newJob()
	e.insert(t, j)
	w := e.work(t)
	a := w.nextOf(t, j.ID, 1)
	w.cancel()
	return w, a
}

var shutdownChecks = []check{
	{"Shutdown/WaitsForRunningJobs", func(t *testing.T, e *env) {
		w, a := canceledWorker(t, e)
		waiting := newJob()
		e.insert(t, waiting)
		w.wantIdle(t, "after cancellation")
		select {
		case <-w.returned:
			t.Error("Work returned while an attempt is running")
		default:
		}
		if a.ctx.Err() != nil {
			t.Error("the context of the attempt is canceled")
		}
		a.ok()
		w.awaitReturn(t)
		e.awaitDone(t, a.ID)
		e.wantState(t, waiting.ID, driver.Waiting)
	}},
	{"Shutdown/StoresAFailure", func(t *testing.T, e *env) {
		w, a := canceledWorker(t, e)
		a.finish(retry(time.Hour))
		w.awaitReturn(t)
		if r := e.wantState(t, a.ID, driver.Waiting); r.Attempt != 1 || r.Error != "try later" {
			t.Errorf("attempt, error = %d, %q; want 1, try later", r.Attempt, r.Error)
		}
	}},
	{"Shutdown/StoresADiscard", func(t *testing.T, e *env) {
		w, a := canceledWorker(t, e)
		a.finish(discard("failed"))
		w.awaitReturn(t)
		e.wantState(t, a.ID, driver.Dead)
	}},
	{"Shutdown/ReleasedJobsAreAvailableImmediately", func(t *testing.T, e *env) {
		w, a := canceledWorker(t, e)
		a.finish(release(0))
		w.awaitReturn(t)
		peer := e.connect(t)
		start := time.Now()
		peer.work(t).nextOf(t, a.ID, 1).ok()
		e.wantQuick(t, "the job", start)
	}},
	{"Shutdown/WaitingJobsAreAvailableImmediately", func(t *testing.T, e *env) {
		all := jobs(10)
		e.insert(t, all...)
		w := e.work(t, concurrency(2))
		first := []*attempt{w.next(t), w.next(t)}
		w.cancel()
		for _, a := range first {
			a.ok()
		}
		w.awaitReturn(t)
		peer := e.connect(t)
		start := time.Now()
		second := peer.work(t, concurrency(4))
		for range 8 {
			a := second.next(t)
			if a.Number != 1 {
				t.Errorf("attempt %d of a job that never ran, want the first", a.Number)
			}
			a.ok()
		}
		e.wantQuick(t, "the waiting job", start)
	}},
	{"Shutdown/IdleWorkerStopsQuickly", func(t *testing.T, e *env) {
		w := e.work(t)
		e.insert(t, newJob())
		w.next(t).ok()
		w.wantIdle(t, "after it succeeded")
		start := time.Now()
		w.stop(t)
		e.wantQuick(t, "shutdown", start)
	}},
	{"Shutdown/CanceledBeforeWork", func(t *testing.T, e *env) {
		e.insert(t, newJob())
		ctx, cancel := context.WithCancel(e.ctx)
		cancel()
		done := make(chan error, 1)
		go func() {
			done <- e.Work(ctx, driver.Work{
				Kinds: []string{kind}, Concurrency: 1, PollInterval: poll,
				MaxDuration: e.h.MaxDuration,
				Run: func(context.Context, driver.Attempt) driver.Outcome {
					t.Error("an attempt started after cancellation")
					return driver.Outcome{}
				},
				OnError: func(context.Context, string, error) {},
			})
		}()
		select {
		case err := <-done:
			if err != nil {
				wantErr(t, "Work with a canceled context", err, context.Canceled)
			}
		case <-time.After(e.h.Timeout):
			t.Errorf("Work did not return within %s", e.h.Timeout)
		}
	}},
	{"Shutdown/WorkCanBeCalledAgain", func(t *testing.T, e *env) {
		for range 3 {
			j := newJob()
			e.insert(t, j)
			w := e.work(t)
			w.nextOf(t, j.ID, 1).ok()
			w.stop(t)
			e.awaitDone(t, j.ID)
		}
	}},
	{"Shutdown/AttemptContextHasTheValuesOfWork", func(t *testing.T, e *env) {
		type key struct{}
		e.ctx = context.WithValue(e.ctx, key{}, "the value")
		e.insert(t, newJob())
		a := e.work(t).next(t)
		if a.ctx.Value(key{}) != "the value" {
			t.Error("the context of the attempt does not have the values of the context of Work")
		}
		a.ok()
	}},
}

// wantQuick fails the test if an event took much longer than LateTolerance.
func (e *env) wantQuick(t *testing.T, subject string, start time.Time) {
	t.Helper()
	limit := e.h.LateTolerance + 5*time.Second
	if elapsed := time.Since(start); elapsed > limit {
		t.Errorf("%s took %s, want at most %s", subject, elapsed, limit)
	}
}
