package jobtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// worker is a call of Engine.Work.
type worker struct {
	e       *env
	cancel  context.CancelFunc
	ended   chan struct{} // closed when Work has returned
	err     error
	begun   chan *attempt
	release chan struct{} // closed when the test ends: attempts that still run return
	once    sync.Once

	mu     sync.Mutex
	failed []string
}

// attempt is one that waits for the check to say how it ends.
type attempt struct {
	driver.Attempt
	ctx context.Context // what Run was given
	end chan driver.Outcome
}

// finish ends the attempt.
func (a *attempt) finish(o driver.Outcome) { a.end <- o }

// ok lets the attempt succeed.
func (a *attempt) ok() { a.finish(driver.Outcome{Action: driver.Complete}) }

// work begins to take jobs, of the usual kind and one at a time. What it begins comes
// from next; nothing ends before the check says how. It is stopped when the test ends.
func (r *replica) work(t *testing.T, change ...func(w *driver.Work)) *worker {
	t.Helper()
	w := &worker{e: r.e, begun: make(chan *attempt, 10_000), release: make(chan struct{})}
	run := func(ctx context.Context, a driver.Attempt) driver.Outcome {
		at := &attempt{Attempt: a, ctx: ctx, end: make(chan driver.Outcome, 1)}
		w.begun <- at
		select {
		case o := <-at.end:
			return o
		case <-w.release:
		}
		select {
		case o := <-at.end: // it came first
			return o
		default:
			return driver.Outcome{Action: driver.Release}
		}
	}
	w.start(t, r, run, change)
	return w
}

// do takes jobs and does them with run.
func (r *replica) do(
	t *testing.T, run func(ctx context.Context, a driver.Attempt) driver.Outcome,
	change ...func(w *driver.Work),
) {
	t.Helper()
	w := &worker{e: r.e, release: make(chan struct{})}
	w.start(t, r, run, change)
}

func (w *worker) start(
	t *testing.T, r *replica, run func(ctx context.Context, a driver.Attempt) driver.Outcome,
	change []func(w *driver.Work),
) {
	t.Helper()
	what := driver.Work{
		Kinds: []string{kind}, Concurrency: 1, PollInterval: poll, MaxDuration: w.e.h.MaxDuration, Run: run,
		OnError: w.fail,
	}
	for _, c := range change {
		c(&what)
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(r.ctx)
	w.ended = make(chan struct{})
	go func() {
		defer close(w.ended)
		w.err = r.Work(ctx, what)
	}()
	t.Cleanup(func() { w.stop(t) })
}

func (w *worker) fail(_ context.Context, what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = append(w.failed, what+": "+err.Error())
}

// failures returns what went wrong between the engine and its server.
func (w *worker) failures() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// stop ends the work and waits for it.
func (w *worker) stop(t *testing.T) {
	t.Helper()
	w.cancel()
	w.once.Do(func() { close(w.release) })
	w.returns(t)
}

// returns waits until Work has returned.
func (w *worker) returns(t *testing.T) {
	t.Helper()
	select {
	case <-w.ended:
	case <-time.After(w.e.h.Timeout):
		t.Fatalf("Work does not return within %s", w.e.h.Timeout)
	}
	if w.err != nil {
		t.Errorf("Work = %v, want nil", w.err)
	}
}

// next waits for an attempt to begin.
func (w *worker) next(t *testing.T) *attempt {
	t.Helper()
	select {
	case a := <-w.begun:
		return a
	case <-w.ended:
		t.Fatalf("Work has returned, with %v", w.err)
	case <-time.After(w.e.h.Timeout):
		t.Fatalf("no attempt has begun within %s; failures: %v", w.e.h.Timeout, w.failures())
	}
	return nil
}

// nextOf waits for an attempt at that job, which must be the next one.
func (w *worker) nextOf(t *testing.T, id string, number int) *attempt {
	t.Helper()
	a := w.next(t)
	if a.ID != id || a.Number != number {
		t.Fatalf("attempt %d at %s has begun, want attempt %d at %s", a.Number, a.ID, number, id)
	}
	return a
}

// quiet fails the test where an attempt begins within a time in which an engine begins
// what it has.
func (w *worker) quiet(t *testing.T, why string) {
	t.Helper()
	select {
	case a := <-w.begun:
		t.Errorf("attempt %d at a job of kind %s has begun, %s", a.Number, a.Kind, why)
		a.ok()
	case <-time.After(w.e.h.LateTolerance + 4*poll):
	}
}

// at checks the time of something that was not to happen before then.
func (e *env) at(t *testing.T, what string, began, notBefore time.Time) {
	t.Helper()
	if early := notBefore.Sub(began); early > e.h.EarlyTolerance {
		t.Errorf("%s was %s early", what, early)
	}
}

func concurrency(n int) func(w *driver.Work) { return func(w *driver.Work) { w.Concurrency = n } }

func kinds(names ...string) func(w *driver.Work) { return func(w *driver.Work) { w.Kinds = names } }
