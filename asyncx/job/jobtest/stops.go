package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// stopping returns an attempt whose worker is to stop by now.
func stopping(t *testing.T, e *env) (*worker, *attempt) {
	t.Helper()
	j := newJob()
	e.insert(t, j)
	w := e.work(t)
	a := w.nextOf(t, j.ID, 1)
	w.cancel()
	return w, a
}

var stopChecks = []check{
	{"Stop/WaitsForWhatRunsAndBeginsNothing", func(t *testing.T, e *env) {
		w, a := stopping(t, e)
		waiting := newJob()
		e.insert(t, waiting)
		w.quiet(t, "after the stop")
		select {
		case <-w.ended:
			t.Error("Work has returned while an attempt runs")
		default:
		}
		if a.ctx.Err() != nil {
			t.Error("the context of the attempt has ended")
		}
		a.ok()
		w.returns(t)
		e.awaitDone(t, a.ID)
		e.wantState(t, waiting.ID, driver.Waiting)
	}},
	{"Stop/SettlesAFailure", func(t *testing.T, e *env) {
		w, a := stopping(t, e)
		a.finish(retry(time.Hour))
		w.returns(t)
		if r := e.wantState(t, a.ID, driver.Waiting); r.Attempt != 1 || r.Error != "not this time" {
			t.Errorf("attempt, error = %d, %q; want 1, not this time", r.Attempt, r.Error)
		}
	}},
	{"Stop/SettlesADeath", func(t *testing.T, e *env) {
		w, a := stopping(t, e)
		a.finish(discard("no good"))
		w.returns(t)
		e.wantState(t, a.ID, driver.Dead)
	}},
	{"Stop/WhatIsGivenBackIsForOthersAtOnce", func(t *testing.T, e *env) {
		w, a := stopping(t, e)
		a.finish(release(0))
		w.returns(t)
		peer := e.connect(t)
		begin := time.Now()
		peer.work(t).nextOf(t, a.ID, 1).ok()
		e.soon(t, "the job", begin)
	}},
	{"Stop/WhatWaitsIsForOthersAtOnce", func(t *testing.T, e *env) {
		all := jobs(10)
		e.insert(t, all...)
		w := e.work(t, concurrency(2))
		first := []*attempt{w.next(t), w.next(t)}
		w.cancel()
		for _, a := range first {
			a.ok()
		}
		w.returns(t)
		peer := e.connect(t)
		begin := time.Now()
		second := peer.work(t, concurrency(4))
		for range 8 {
			a := second.next(t)
			if a.Number != 1 {
				t.Errorf("attempt %d at a job that had not begun, want the first", a.Number)
			}
			a.ok()
		}
		e.soon(t, "what waited", begin)
	}},
	{"Stop/OfAnIdleWorkerIsQuick", func(t *testing.T, e *env) {
		w := e.work(t)
		e.insert(t, newJob())
		w.next(t).ok()
		w.quiet(t, "which has succeeded")
		begin := time.Now()
		w.stop(t)
		e.soon(t, "the stop", begin)
	}},
	{"Stop/BeforeTheBeginning", func(t *testing.T, e *env) {
		e.insert(t, newJob())
		ctx, cancel := context.WithCancel(e.ctx)
		cancel()
		done := make(chan error, 1)
		go func() {
			done <- e.Work(ctx, driver.Work{
				Kinds: []string{kind}, Concurrency: 1, PollInterval: poll, MaxDuration: e.h.MaxDuration,
				Run: func(context.Context, driver.Attempt) driver.Outcome {
					t.Error("an attempt has begun after the stop")
					return driver.Outcome{}
				},
				OnError: func(context.Context, string, error) {},
			})
		}()
		select {
		case err := <-done:
			if err != nil {
				is(t, "Work with a context that has ended", err, context.Canceled)
			}
		case <-time.After(e.h.Timeout):
			t.Errorf("Work does not return within %s", e.h.Timeout)
		}
	}},
	{"Stop/AnEngineCanWorkAgain", func(t *testing.T, e *env) {
		for range 3 {
			j := newJob()
			e.insert(t, j)
			w := e.work(t)
			w.nextOf(t, j.ID, 1).ok()
			w.stop(t)
			e.awaitDone(t, j.ID)
		}
	}},
	{"Stop/AnAttemptsContextHasTheValuesOfWork", func(t *testing.T, e *env) {
		type key struct{}
		e.ctx = context.WithValue(e.ctx, key{}, "the value")
		e.insert(t, newJob())
		a := e.work(t).next(t)
		if a.ctx.Value(key{}) != "the value" {
			t.Error("the context of the attempt does not have the values of that of Work")
		}
		a.ok()
	}},
}

// soon fails the test where something took as long as only the death of a worker may.
func (e *env) soon(t *testing.T, what string, begin time.Time) {
	t.Helper()
	if took := time.Since(begin); took > e.h.LateTolerance+5*time.Second {
		t.Errorf("%s took %s", what, took)
	}
}
