package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// stoppable skips the check where the harness cannot stop the server.
func stoppable(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if e.store.Stop == nil || e.store.Start == nil {
			t.Skip("the harness has no server that can be stopped")
		}
		run(t, e)
	}
}

// recovers stores a job as soon as the server answers again.
func (r *replica) recovers(t *testing.T, j driver.Job) {
	t.Helper()
	var err error
	for begin := time.Now(); ; pass(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(r.ctx, 5*time.Second)
		err = r.Insert(ctx, []driver.Job{j})
		cancel()
		// the answer may have been lost
		if _, gone := r.Get(r.ctx, j.ID); err == nil || gone == nil {
			return
		}
		if time.Since(begin) > r.e.h.Timeout {
			t.Fatalf("Insert, %s after the server is back: %v", r.e.h.Timeout, err)
		}
	}
}

var outageChecks = []check{
	{"Outage/TheWorkGoesOnAfterwards", stoppable(func(t *testing.T, e *env) {
		w := e.work(t)
		first := newJob()
		e.insert(t, first)
		w.nextOf(t, first.ID, 1).ok()
		e.awaitDone(t, first.ID)
		e.store.Stop(t)
		e.eventually(t, "OnError is told of the outage",
			func() bool { return len(w.failures()) > 0 })
		for _, c := range calls {
			ctx, cancel := context.WithTimeout(e.ctx, 5*time.Second)
			if err := c.do(ctx, e, first.ID); err == nil {
				t.Errorf("%s = nil while the server is away", c.name)
			}
			cancel()
		}
		e.store.Start(t)
		j := newJob()
		e.recovers(t, j)
		for { // what the failed Insert of before has stored may run too
			a := w.next(t)
			a.ok()
			if a.ID == j.ID {
				break
			}
		}
		e.awaitDone(t, j.ID)
	})},
	{"Outage/AJobThatEndsMeanwhileIsNotLost", stoppable(func(t *testing.T, e *env) {
		w := e.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.store.Stop(t)
		a.ok()
		e.eventually(t, "OnError is told of the outage",
			func() bool { return len(w.failures()) > 0 })
		e.store.Start(t)
		e.recovers(t, newJob(ofKind("kind.other")))
		for begin := time.Now(); ; { // it is settled late, or runs once more
			select {
			case again := <-w.begun:
				again.ok()
			case <-time.After(100 * time.Millisecond):
			}
			r, err := e.Get(e.ctx, j.ID)
			if err != nil || r.State == driver.Done {
				is(t, "Get of what is done", orNotFound(err), driver.ErrNotFound)
				return
			}
			if time.Since(begin) > e.h.Timeout+e.Capabilities().TakeoverTimeout {
				t.Fatalf("the job is %s", r.State)
			}
		}
	})},
	{"Outage/TheStopDoesNotHang", stoppable(func(t *testing.T, e *env) {
		w := e.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.store.Stop(t)
		w.cancel()
		a.ok()
		select {
		case <-w.ended:
		case <-time.After(e.h.Timeout):
			t.Errorf("Work does not return within %s of a stop during an outage", e.h.Timeout)
		}
		e.store.Start(t)
		e.recovers(t, newJob(ofKind("kind.other")))
	})},
}

// orNotFound takes success for that of an engine which keeps what is done.
func orNotFound(err error) error {
	if err == nil {
		return driver.ErrNotFound
	}
	return err
}
