package jobtest

import (
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// retry is an outcome that lets the job be tried again.
func retry(wait time.Duration) driver.Outcome {
	return driver.Outcome{Action: driver.Retry, Wait: wait, Error: "not this time"}
}

// giveBack is an outcome as if the attempt had not been.
func release(wait time.Duration) driver.Outcome {
	return driver.Outcome{Action: driver.Release, Wait: wait}
}

// bury is an outcome that ends the job.
func discard(text string) driver.Outcome { return driver.Outcome{Action: driver.Discard, Error: text} }

var outcomeChecks = []check{
	{"Outcome/ARetryWaits", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wait := e.h.EarlyTolerance + 800*time.Millisecond
		begin := time.Now()
		a.finish(retry(wait))
		a = w.nextOf(t, j.ID, 2)
		e.at(t, "the second attempt", time.Now(), begin.Add(wait))
		sameJob(t, "the second attempt", a.Job, j)
		a.ok()
		e.awaitDone(t, j.ID)
		w.quiet(t, "which has succeeded")
	}},
	{"Outcome/AJobThatWaitsForARetryShowsWhy", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		begin := time.Now()
		w := e.work(t)
		w.next(t).finish(retry(time.Hour))
		r := e.awaitState(t, j.ID, driver.Waiting)
		if r.Attempt != 1 || r.Error != "not this time" {
			t.Errorf("attempt, error = %d, %q; want 1, not this time", r.Attempt, r.Error)
		}
		near(t, "RunAt", r.RunAt, begin.Add(time.Hour))
		near(t, "CreatedAt", r.CreatedAt, begin)
		w.quiet(t, "an hour early")
	}},
	{"Outcome/RetriesCountAndOnlyTheWorkerEndsThem", func(t *testing.T, e *env) {
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
	{"Outcome/ARetryDoesNotHoldUpOthers", func(t *testing.T, e *env) {
		first, second := newJob(priority(1)), newJob(priority(2))
		e.insert(t, first, second)
		w := e.work(t)
		w.nextOf(t, first.ID, 1).finish(retry(time.Hour))
		w.nextOf(t, second.ID, 1).ok()
	}},
	{"Outcome/ABuriedJobIsDeadWithItsError", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		w.nextOf(t, j.ID, 1).finish(retry(0))
		w.nextOf(t, j.ID, 2).finish(discard("the last word"))
		r := e.awaitState(t, j.ID, driver.Dead)
		sameJob(t, "the dead record", r.Job, j)
		if r.Attempt != 2 || r.Error != "the last word" {
			t.Errorf("attempt, error = %d, %q; want 2, the last word", r.Attempt, r.Error)
		}
		w.quiet(t, "which is dead")
		peer := e.connect(t)
		peer.work(t).quiet(t, "which is dead")
	}},
	{"Outcome/AnErrorIsKeptAsItIs", func(t *testing.T, e *env) {
		w := e.work(t)
		for _, text := range []string{
			strings.Repeat("x", 2000), strings.Repeat("世", 666),
			"line one\nline two\t'\"\\ %s $1 ? 🎉", strings.Repeat("é", 1000),
		} {
			j := newJob()
			e.insert(t, j)
			w.nextOf(t, j.ID, 1).finish(bury(text))
			if r := e.awaitState(t, j.ID, driver.Dead); r.Error != text {
				t.Errorf("the error is %.60q (%d bytes), want %.60q (%d)",
					r.Error, len(r.Error), text, len(text))
			}
		}
	}},
	{"Outcome/AReturnGivesTheNumberBack", func(t *testing.T, e *env) {
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
			t.Errorf("attempt = %d after the second was given back, want 1", r.Attempt)
		}
		w.quiet(t, "an hour early")
	}},
	{"Outcome/AReturnWaits", func(t *testing.T, e *env) {
		j := newJob()
		e.insert(t, j)
		w := e.work(t)
		a := w.nextOf(t, j.ID, 1)
		wait := e.h.EarlyTolerance + 800*time.Millisecond
		begin := time.Now()
		a.finish(release(wait))
		a = w.nextOf(t, j.ID, 1)
		e.at(t, "the attempt after a return", time.Now(), begin.Add(wait))
		a.ok()
		e.awaitDone(t, j.ID)
	}},
}
