package jobtest

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// retry returns an outcome that retries the job.
func retry(wait time.Duration) driver.Outcome {
	return driver.Outcome{Action: driver.Retry, Wait: wait, Error: "try later"}
}

// release returns an outcome that releases the job.
func release(wait time.Duration) driver.Outcome {
	return driver.Outcome{Action: driver.Release, Wait: wait}
}

// discard returns an outcome that dead-letters the job.
func discard(text string) driver.Outcome {
	return driver.Outcome{Action: driver.Discard, Error: text}
}

var outcomeChecks = []check{
	{"Outcome/RetryWaits", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wait := e.h.EarlyTolerance + 800*time.Millisecond
		start := time.Now()
		a.finish(retry(wait))
		a = w.nextOf(t, j.ID, 2)
		e.wantNotBefore(t, "the second attempt", time.Now(), start.Add(wait))
		sameJob(t, "the second attempt", a.Job, j)
		a.ok()
		e.awaitDone(t, j.ID)
		w.wantIdle(t, "after it succeeded")
	}},
	{"Outcome/RetryStoresTheError", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		start := time.Now()
		w := e.work(t)
		w.next(t).finish(retry(time.Hour))
		r := e.awaitState(t, j.ID, driver.Waiting)
		if r.Attempt != 1 || r.Error != "try later" {
			t.Errorf("attempt, error = %d, %q; want 1, try later", r.Attempt, r.Error)
		}
		wantNear(t, "RunAt", r.RunAt, start.Add(time.Hour))
		wantNear(t, "CreatedAt", r.CreatedAt, start)
		w.wantIdle(t, "an hour too early")
	}},
	{"Outcome/RetriesAreNotLimitedByTheEngine", func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.MaxAttempts = 2 })
		e.insert(t, j)
		w := e.work(t)
		created := time.Time{}
		for number := range 4 {
			a := w.nextOf(t, j.ID, number+1)
			if created.IsZero() {
				created = a.CreatedAt
			}
			if !a.CreatedAt.Equal(created) {
				t.Errorf("CreatedAt is %s at attempt %d, want %s", a.CreatedAt, a.Number, created)
			}
			a.finish(retry(0))
		}
		w.nextOf(t, j.ID, 5).ok()
		e.awaitDone(t, j.ID)
	}},
	{"Outcome/RetryDoesNotBlockOtherJobs", func(t *testing.T, e *env) {
		first, second := newJob(priority(1)), newJob(priority(2))
		e.insert(t, first, second)
		w := e.work(t)
		w.nextOf(t, first.ID, 1).finish(retry(time.Hour))
		w.nextOf(t, second.ID, 1).ok()
	}},
	{"Outcome/DiscardStoresTheError", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		w.nextOf(t, j.ID, 1).finish(retry(0))
		w.nextOf(t, j.ID, 2).finish(discard("fatal"))
		r := e.awaitState(t, j.ID, driver.Dead)
		sameJob(t, "the dead record", r.Job, j)
		if r.Attempt != 2 || r.Error != "fatal" {
			t.Errorf("attempt, error = %d, %q; want 2, fatal", r.Attempt, r.Error)
		}
		w.wantIdle(t, "of a dead job")
		peer := e.connect(t)
		peer.work(t).wantIdle(t, "of a dead job")
	}},
	{"Outcome/ErrorIsStoredUnchanged", func(t *testing.T, e *env) {
		w := e.work(t)
		for _, text := range []string{
			strings.Repeat("x", 2000), strings.Repeat("世", 666),
			"line one\nline two\t'\"\\ %s $1 ? 🎉", strings.Repeat("é", 1000),
		} {
			j := newJob()
			e.insert(t, j)
			w.nextOf(t, j.ID, 1).finish(discard(text))
			if r := e.awaitState(t, j.ID, driver.Dead); r.Error != text {
				t.Errorf("the error is %.60q (%d bytes), want %.60q (%d bytes)",
					r.Error, len(r.Error), text, len(text))
			}
		}
	}},
	{"Outcome/ReleaseDoesNotCountTheAttempt", func(t *testing.T, e *env) {
		j := newJob(func(j *driver.Job) { j.MaxAttempts = 2 })
		e.insert(t, j)
		w := e.work(t)
		for range 4 {
			w.nextOf(t, j.ID, 1).finish(release(0))
		}
		w.nextOf(t, j.ID, 1).finish(retry(0))
		for range 4 {
			w.nextOf(t, j.ID, 2).finish(release(0))
		}
		w.nextOf(t, j.ID, 2).finish(release(time.Hour))
		if r := e.awaitState(t, j.ID, driver.Waiting); r.Attempt != 1 {
			t.Errorf("attempt = %d after the second was released, want 1", r.Attempt)
		}
		w.wantIdle(t, "an hour too early")
	}},
	{"Outcome/ReleaseWaits", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wait := e.h.EarlyTolerance + 800*time.Millisecond
		start := time.Now()
		a.finish(release(wait))
		a = w.nextOf(t, j.ID, 1)
		e.wantNotBefore(t, "the attempt after a release", time.Now(), start.Add(wait))
		a.ok()
		e.awaitDone(t, j.ID)
	}},
}
