package jobtest

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// needsStop skips the check if the harness cannot stop the server.
func needsStop(run func(t *testing.T, e *env)) func(t *testing.T, e *env) {
	return func(t *testing.T, e *env) {
		if e.store.Stop == nil || e.store.Start == nil {
			t.Skip("the harness does not set Stop and Start")
		}
		run(t, e)
	}
}

// insertAfterOutage stores a job as soon as the server responds.
func (r *replica) insertAfterOutage(t *testing.T, j driver.Job) {
	t.Helper()
	var err error
	for start := time.Now(); ; sleep(100 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(r.ctx, 5*time.Second)
		err = r.Insert(ctx, []driver.Job{j})
		cancel()
		// the job may be stored although the response was lost
		if _, notFound := r.Get(r.ctx, j.ID); err == nil || notFound == nil {
			return
		}
		if time.Since(start) > r.e.h.Timeout {
			t.Fatalf("Insert failed for %s after the restart: %v", r.e.h.Timeout, err)
		}
	}
}

var outageChecks = []check{
	{"Outage/WorkContinuesAfterwards", needsStop(func(t *testing.T, e *env) {
		w := e.work(t)
		first := newJob()
		e.insert(t, first)
		w.nextOf(t, first.ID, 1).ok()
		e.awaitDone(t, first.ID)
		e.store.Stop(t)
		e.eventually(t, "OnError reports the outage",
			func() bool { return len(w.reported()) > 0 })
		for _, c := range calls {
			ctx, cancel := context.WithTimeout(e.ctx, 5*time.Second)
			if err := c.do(ctx, e, first.ID); err == nil {
				t.Errorf("%s = nil during the outage", c.name)
			}
			cancel()
		}
		e.store.Start(t)
		j := newJob()
		e.insertAfterOutage(t, j)
		for { // a job whose Insert failed may also run
			a := w.next(t)
			a.ok()
			if a.ID == j.ID {
				break
			}
		}
		e.awaitDone(t, j.ID)
	})},
	{"Outage/AJobThatFinishesDuringTheOutageIsNotLost", needsStop(func(t *testing.T, e *env) {
		w := e.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.store.Stop(t)
		a.ok()
		e.eventually(t, "OnError reports the outage",
			func() bool { return len(w.reported()) > 0 })
		e.store.Start(t)
		e.insertAfterOutage(t, newJob(ofKind("kind.other")))
		for start := time.Now(); ; { // the outcome is stored late, or the job runs again
			select {
			case repeated := <-w.started:
				repeated.ok()
			case <-time.After(100 * time.Millisecond):
			}
			r, err := e.Get(e.ctx, j.ID)
			if err != nil || r.State == driver.Done {
				wantErr(t, "Get of a completed job", orNotFound(err), driver.ErrNotFound)
				return
			}
			if time.Since(start) > e.h.Timeout+e.Capabilities().TakeoverTimeout {
				t.Fatalf("the job is still %s", r.State)
			}
		}
	})},
	{"Outage/ShutdownDoesNotHang", needsStop(func(t *testing.T, e *env) {
		w := e.work(t)
		j := newJob()
		e.insert(t, j)
		a := w.nextOf(t, j.ID, 1)
		e.store.Stop(t)
		w.cancel()
		a.ok()
		select {
		case <-w.returned:
		case <-time.After(e.h.Timeout):
			t.Errorf("Work did not return within %s of a shutdown during an outage", e.h.Timeout)
		}
		e.store.Start(t)
		e.insertAfterOutage(t, newJob(ofKind("kind.other")))
	})},
}

// orNotFound maps nil to ErrNotFound, because some engines keep completed jobs.
func orNotFound(err error) error {
	if err == nil {
		return driver.ErrNotFound
	}
	return err
}
