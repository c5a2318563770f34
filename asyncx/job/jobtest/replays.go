package jobtest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// deadJob returns a dead job and its worker.
func deadJob(t *testing.T, e *env) (driver.Job, *worker) {
	t.Helper()
	j := newJob(func(j *driver.Job) {
		j.Args, j.Meta = []byte(`{"a":1}`), map[string]string{"k": "v"}
	})
	e.insert(t, j)
	w := e.work(t)
	w.nextOf(t, j.ID, 1).finish(retry(0))
	w.nextOf(t, j.ID, 2).finish(discard("failed"))
	e.awaitState(t, j.ID, driver.Dead)
	return j, w
}

// replay replays a dead job.
func (r *replica) replay(t *testing.T, id string) {
	t.Helper()
	if err := r.Replay(r.ctx, id); err != nil {
		t.Fatalf("Replay: %v", err)
	}
}

// remove deletes a job and checks that it no longer exists.
func (r *replica) remove(t *testing.T, id string) {
	t.Helper()
	if err := r.Delete(r.ctx, id); err != nil {
		t.Fatalf("Delete: %v", err)
	}
	r.wantNone(t, id)
	wantErr(t, "the second Delete", r.Delete(r.ctx, id), driver.ErrNotFound)
}

var replayChecks = []check{
	{"Replay/ResetsTheAttempts", func(t *testing.T, e *env) {
		j, w := deadJob(t, e)
		for range 2 {
			e.replay(t, j.ID)
			a := w.nextOf(t, j.ID, 1)
			sameJob(t, "the replayed attempt", a.Job, j)
			a.finish(retry(0))
			w.nextOf(t, j.ID, 2).finish(discard("failed again"))
			if r := e.awaitState(t, j.ID, driver.Dead); r.Attempt != 2 ||
				r.Error != "failed again" {
				t.Errorf("attempt, error = %d, %q; want 2, failed again", r.Attempt, r.Error)
			}
		}
		e.replay(t, j.ID)
		w.nextOf(t, j.ID, 1).ok()
		e.awaitDone(t, j.ID)
		w.wantIdle(t, "after it succeeded")
	}},
	{"Replay/ReturnsTheJobToTheQueue", func(t *testing.T, e *env) {
		j, w := deadJob(t, e)
		w.stop(t)
		e.replay(t, j.ID)
		r := e.wantState(t, j.ID, driver.Waiting)
		sameJob(t, "the replayed record", r.Job, j)
		if r.Attempt != 0 {
			t.Errorf("attempt = %d, want 0", r.Attempt)
		}
		wantIDs(t, "the list of dead jobs",
			e.list(t, driver.Query{State: driver.Dead, Limit: 10}), nil)
		wantIDs(t, "the list of waiting jobs",
			e.list(t, driver.Query{State: driver.Waiting, Limit: 10}), []string{j.ID})
	}},
	{"Replay/RejectsOtherStates", func(t *testing.T, e *env) {
		j := newJob(delay(time.Hour))
		e.insert(t, j)
		wantErr(t, "Replay of a job with a delay", e.Replay(e.ctx, j.ID), driver.ErrState)
		e.remove(t, j.ID)
		j = newJob()
		e.insert(t, j)
		wantErr(t, "Replay of a waiting job", e.Replay(e.ctx, j.ID), driver.ErrState)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wantErr(t, "Replay of a running job", e.Replay(e.ctx, j.ID), driver.ErrState)
		a.ok()
		e.awaitDone(t, j.ID)
		if err := e.Replay(e.ctx, j.ID); !errors.Is(err, driver.ErrState) &&
			!errors.Is(err, driver.ErrNotFound) {
			t.Errorf("Replay of a job that is done = %v, want %v or %v",
				err, driver.ErrState, driver.ErrNotFound)
		}
		w.wantIdle(t, "after it succeeded")
	}},
	{"Replay/ConcurrentCallsReplayOnce", func(t *testing.T, e *env) {
		j, w := deadJob(t, e)
		peer := e.connect(t)
		errs := make([]error, 8)
		var wg sync.WaitGroup
		for i := range errs {
			r := []*replica{&e.replica, &peer}[i%2]
			wg.Go(func() { errs[i] = r.Replay(r.ctx, j.ID) })
		}
		wg.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
				continue
			}
			wantErr(t, "Replay of a replayed job", err, driver.ErrState)
		}
		if done != 1 {
			t.Errorf("%d replays succeeded, want 1: %v", done, errs)
		}
		w.nextOf(t, j.ID, 1).ok()
		w.wantIdle(t, "after a single replay")
	}},
	{"Delete/WaitingJob", func(t *testing.T, e *env) {
		now, later, last := newJob(), newJob(delay(300*time.Millisecond)), newJob(priority(4))
		e.insert(t, now, later, last)
		e.remove(t, now.ID)
		e.remove(t, later.ID)
		w := e.work(t)
		w.nextOf(t, last.ID, 1).ok()
		w.wantIdle(t, "of a deleted job")
	}},
	{"Delete/JobThatWaitsForARetry", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		w.next(t).finish(retry(2 * time.Second))
		e.awaitState(t, j.ID, driver.Waiting)
		e.remove(t, j.ID)
		sleep(2 * time.Second)
		w.wantIdle(t, "of a deleted job")
	}},
	{"Delete/DeadJob", func(t *testing.T, e *env) {
		j, w := deadJob(t, e)
		e.remove(t, j.ID)
		wantErr(t, "Replay of a deleted job", e.Replay(e.ctx, j.ID), driver.ErrNotFound)
		wantIDs(t, "the list of dead jobs",
			e.list(t, driver.Query{State: driver.Dead, Limit: 10}), nil)
		w.wantIdle(t, "of a deleted job")
	}},
	{"Delete/RejectsARunningJob", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wantErr(t, "Delete of a running job", e.Delete(e.ctx, j.ID), driver.ErrState)
		if a.ctx.Err() != nil {
			t.Error("the context of the attempt is canceled")
		}
		a.finish(retry(0))
		w.nextOf(t, j.ID, 2).ok()
		e.awaitDone(t, j.ID)
		if err := e.Delete(e.ctx, j.ID); !errors.Is(err, driver.ErrState) &&
			!errors.Is(err, driver.ErrNotFound) {
			t.Errorf("Delete of a job that is done = %v, want %v or %v",
				err, driver.ErrState, driver.ErrNotFound)
		}
	}},
}
