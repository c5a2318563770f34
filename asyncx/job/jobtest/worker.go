package jobtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// worker is a running call of Engine.Work.
type worker struct {
	e        *env
	cancel   context.CancelFunc
	returned chan struct{} // closed when Work has returned
	err      error
	started  chan *attempt
	release  chan struct{} // closed at the end of the test: running attempts return
	once     sync.Once

	mu   sync.Mutex
	errs []string // reported by the engine
}

// attempt is a running attempt that waits for its outcome.
type attempt struct {
	driver.Attempt
	ctx context.Context // context of Run
	end chan driver.Outcome
}

// finish completes the attempt with o.
func (a *attempt) finish(o driver.Outcome) { a.end <- o }

// ok completes the attempt successfully.
func (a *attempt) ok() { a.finish(driver.Outcome{Action: driver.Complete}) }

// work starts a worker that runs one job of the default kind at a time; change modifies
// its Work. next returns its attempts, which run until the check finishes them. The
// worker stops at the end of the test.
func (r *replica) work(t *testing.T, change ...func(w *driver.Work)) *worker {
	t.Helper()
	w := &worker{e: r.e, started: make(chan *attempt, 10_000), release: make(chan struct{})}
	run := func(ctx context.Context, a driver.Attempt) driver.Outcome {
		running := &attempt{Attempt: a, ctx: ctx, end: make(chan driver.Outcome, 1)}
		w.started <- running
		select {
		case o := <-running.end:
			return o
		case <-w.release:
		}
		select {
		case o := <-running.end: // the outcome was set before the release
			return o
		default:
			return driver.Outcome{Action: driver.Release}
		}
	}
	w.start(t, r, run, change)
	return w
}

// runAll starts a worker that runs its jobs with run.
func (r *replica) runAll(
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
	work := driver.Work{
		Kinds: []string{kind}, Concurrency: 1, PollInterval: poll, MaxDuration: w.e.h.MaxDuration,
		Run: run, OnError: w.onError,
	}
	for _, c := range change {
		c(&work)
	}
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(r.ctx)
	w.returned = make(chan struct{})
	go func() {
		defer close(w.returned)
		w.err = r.Work(ctx, work)
	}()
	t.Cleanup(func() { w.stop(t) })
}

func (w *worker) onError(_ context.Context, operation string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.errs = append(w.errs, operation+": "+err.Error())
}

// reported returns the errors that the engine reported to OnError.
func (w *worker) reported() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.errs
}

// stop cancels the worker and waits until Work returns.
func (w *worker) stop(t *testing.T) {
	t.Helper()
	w.cancel()
	w.once.Do(func() { close(w.release) })
	w.awaitReturn(t)
}

// awaitReturn waits until Work has returned.
func (w *worker) awaitReturn(t *testing.T) {
	t.Helper()
	select {
	case <-w.returned:
	case <-time.After(w.e.h.Timeout):
		t.Fatalf("Work did not return within %s", w.e.h.Timeout)
	}
	if w.err != nil {
		t.Errorf("Work = %v, want nil", w.err)
	}
}

// next waits for the next attempt.
func (w *worker) next(t *testing.T) *attempt {
	t.Helper()
	select {
	case a := <-w.started:
		return a
	case <-w.returned:
		t.Fatalf("Work returned %v", w.err)
	case <-time.After(w.e.h.Timeout):
		t.Fatalf("no attempt started within %s; errors of the engine: %v",
			w.e.h.Timeout, w.reported())
	}
	return nil
}

// nextOf waits for the next attempt, and fails the test if it is not attempt number of
// the job with the ID.
func (w *worker) nextOf(t *testing.T, id string, number int) *attempt {
	t.Helper()
	a := w.next(t)
	if a.ID != id || a.Number != number {
		t.Fatalf("attempt %d of %s started, want attempt %d of %s", a.Number, a.ID, number, id)
	}
	return a
}

// wantIdle fails the test if an attempt starts within the time that a due job needs. why
// ends the error message.
func (w *worker) wantIdle(t *testing.T, why string) {
	t.Helper()
	select {
	case a := <-w.started:
		t.Errorf("attempt %d of a job of kind %s started %s", a.Number, a.Kind, why)
		a.ok()
	case <-time.After(w.e.h.LateTolerance + 4*poll):
	}
}

// wantNotBefore fails the test if an event was too early.
func (e *env) wantNotBefore(t *testing.T, subject string, at, notBefore time.Time) {
	t.Helper()
	if early := notBefore.Sub(at); early > e.h.EarlyTolerance {
		t.Errorf("%s was %s early", subject, early)
	}
}

func concurrency(n int) func(w *driver.Work) { return func(w *driver.Work) { w.Concurrency = n } }

func kinds(names ...string) func(w *driver.Work) { return func(w *driver.Work) { w.Kinds = names } }
