package jobtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

var concurrencyChecks = []check{
	{"Concurrency/EachJobRunsOnce", func(t *testing.T, e *env) {
		var c tally
		run := func(_ context.Context, a driver.Attempt) driver.Outcome {
			c.add(a)
			return driver.Outcome{}
		}
		all := jobs(200)
		e.insert(t, all...)
		peer := e.connect(t)
		start := time.Now()
		e.runAll(t, run, concurrency(5))
		peer.runAll(t, run, concurrency(5))
		e.eventually(t, "all jobs ran", func() bool { return c.total() >= len(all) })
		elapsed := time.Since(start)
		sleep(e.h.LateTolerance)
		c.wantOnce(t, ids(all))
		e.notes.addf("%d jobs by two workers of 5 in %s: %.0f jobs/s while other checks ran",
			len(all), elapsed.Round(time.Millisecond), float64(len(all))/elapsed.Seconds())
	}},
	{"Concurrency/JobsInsertedDuringWorkRunOnce", func(t *testing.T, e *env) {
		var c tally
		run := func(_ context.Context, a driver.Attempt) driver.Outcome {
			c.add(a)
			return driver.Outcome{}
		}
		peer := e.connect(t)
		e.runAll(t, run, concurrency(3))
		peer.runAll(t, run, concurrency(3))
		all := jobs(120)
		var wg sync.WaitGroup
		for i, r := range []*replica{&e.replica, &peer, &e.replica, &peer} {
			wg.Go(func() {
				for _, j := range all[i*30 : (i+1)*30] {
					if err := r.Insert(r.ctx, []driver.Job{j}); err != nil {
						t.Errorf("Insert: %v", err)
					}
				}
			})
		}
		wg.Wait()
		e.eventually(t, "all jobs ran", func() bool { return c.total() >= len(all) })
		sleep(e.h.LateTolerance)
		c.wantOnce(t, ids(all))
	}},
	{"Concurrency/TwoWorkersOnOneEngine", func(t *testing.T, e *env) {
		a, b := newJob(ofKind("kind.a")), newJob(ofKind("kind.b"))
		e.insert(t, a, b)
		wa, wb := e.work(t, kinds("kind.a")), e.work(t, kinds("kind.b"))
		wa.nextOf(t, a.ID, 1).ok()
		running := wb.nextOf(t, b.ID, 1)
		wa.stop(t)
		if running.ctx.Err() != nil {
			t.Error("the shutdown of one worker canceled an attempt of another")
		}
		running.ok()
		e.awaitDone(t, b.ID)
	}},
	{"Concurrency/AllOutcomesAreStored", func(t *testing.T, e *env) {
		all := jobs(90)
		e.insert(t, all...)
		var c tally
		peer := e.connect(t)
		run := func(_ context.Context, a driver.Attempt) driver.Outcome {
			c.add(a)
			switch {
			case a.ID[len(a.ID)-1]%3 == 0:
				return discard("by its id")
			case a.Number == 1:
				return retry(0)
			}
			return driver.Outcome{}
		}
		e.runAll(t, run, concurrency(4))
		peer.runAll(t, run, concurrency(4))
		for _, j := range all {
			if j.ID[len(j.ID)-1]%3 == 0 {
				e.awaitState(t, j.ID, driver.Dead)
				continue
			}
			e.awaitDone(t, j.ID)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, j := range all {
			want := 2
			if j.ID[len(j.ID)-1]%3 == 0 {
				want = 1
			}
			if len(c.seen[j.ID]) != want {
				t.Errorf("the job %s had the attempts %v, want %d attempts",
					j.ID, c.seen[j.ID], want)
			}
		}
	}},
}
