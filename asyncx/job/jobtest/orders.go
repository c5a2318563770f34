package jobtest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

var orderChecks = []check{
	{"Order/DelayIsRespected", func(t *testing.T, e *env) {
		w := e.work(t)
		wait := e.h.EarlyTolerance + 800*time.Millisecond
		start := time.Now()
		late := newJob(delay(wait))
		e.insert(t, late)
		a := w.nextOf(t, late.ID, 1)
		e.wantNotBefore(t, "a job with a delay", time.Now(), start.Add(wait))
		a.ok()
	}},
	{"Order/LongDelayIsRespected", func(t *testing.T, e *env) {
		late, now := newJob(delay(time.Hour), priority(1)), newJob(priority(4))
		e.insert(t, late, now)
		w := e.work(t)
		w.nextOf(t, now.ID, 1).ok()
		w.wantIdle(t, "an hour too early")
	}},
	{"Order/SmallerPriorityRunsFirst", func(t *testing.T, e *env) {
		var got, want []int
		for _, p := range []int{4, 2, 3, 1, 3, 1, 4, 2, 1} {
			e.insert(t, newJob(priority(p)))
			want = append(want, p)
		}
		slices.Sort(want)
		w := e.work(t)
		for range want {
			a := w.next(t)
			got = append(got, a.Priority)
			a.ok()
		}
		if !slices.Equal(got, want) {
			t.Errorf("jobs ran in the order of priorities %v, want %v", got, want)
		}
	}},
	{"Order/HigherPriorityOvertakesWaitingJobs", func(t *testing.T, e *env) {
		first, low, high := newJob(), newJob(priority(4)), newJob(priority(1))
		e.insert(t, first)
		w := e.work(t)
		a := w.nextOf(t, first.ID, 1)
		e.insert(t, low)
		sleep(4 * poll)
		e.insert(t, high)
		a.ok()
		w.nextOf(t, high.ID, 1).ok()
		w.nextOf(t, low.ID, 1).ok()
	}},
	{"Order/PriorityAppliesAcrossKinds", func(t *testing.T, e *env) {
		low, high := newJob(ofKind("kind.a"), priority(4)), newJob(ofKind("kind.b"), priority(1))
		e.insert(t, low)
		e.insert(t, high)
		w := e.work(t, kinds("kind.a", "kind.b"))
		w.nextOf(t, high.ID, 1).ok()
		w.nextOf(t, low.ID, 1).ok()
	}},
	{"Order/ConcurrencyIsReachedAndNotExceeded", func(t *testing.T, e *env) {
		e.insert(t, jobs(9)...)
		w := e.work(t, concurrency(3))
		running := []*attempt{w.next(t), w.next(t), w.next(t)}
		w.wantIdle(t, "beyond the concurrency")
		for range 6 {
			running[0].ok()
			running = append(running[1:], w.next(t))
		}
		for _, a := range running {
			a.ok()
		}
	}},
	{"Order/ConcurrencyIsLimitedUnderLoad", func(t *testing.T, e *env) {
		const limit = 4
		var running, peak atomic.Int32
		var c tally
		all := jobs(120)
		e.insert(t, all...)
		e.runAll(t, func(_ context.Context, a driver.Attempt) driver.Outcome {
			n := running.Add(1)
			for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
			}
			sleep(5 * time.Millisecond)
			running.Add(-1)
			c.add(a)
			return driver.Outcome{}
		}, concurrency(limit))
		e.eventually(t, "all jobs ran", func() bool { return c.total() >= len(all) })
		c.wantOnce(t, ids(all))
		if p := peak.Load(); p > limit {
			t.Errorf("%d attempts ran at the same time, want at most %d", p, limit)
		}
	}},
	{"Order/OtherKindsAreUntouched", func(t *testing.T, e *env) {
		other, own := jobs(150, ofKind("kind.other"), priority(1)), newJob(priority(4))
		e.insert(t, other...)
		e.insert(t, own)
		w := e.work(t)
		w.nextOf(t, own.ID, 1).ok()
		w.wantIdle(t, "of another kind")
		for _, id := range []string{other[0].ID, other[149].ID} {
			if r := e.wantState(t, id, driver.Waiting); r.Attempt != 0 {
				t.Errorf("a job without a worker has attempt %d, want 0", r.Attempt)
			}
		}
		a := e.work(t, kinds("kind.other")).next(t)
		if a.Kind != "kind.other" || a.Number != 1 {
			t.Errorf("attempt %d at a job of kind %s started, want the first of kind.other",
				a.Number, a.Kind)
		}
		a.ok()
	}},
}
