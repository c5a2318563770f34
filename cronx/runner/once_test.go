package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
)

// runCounter counts the runs of each tick.
type runCounter struct {
	mu   sync.Mutex
	runs map[int64]int
}

func (c *runCounter) add(ctx context.Context) {
	tick, _ := cronx.TickFrom(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs == nil {
		c.runs = map[int64]int{}
	}
	c.runs[tick.Time.Unix()]++
}

// check fails the test if a tick of the interval [from, to) does not have exactly one
// run.
func (c *runCounter) check(t *testing.T, from, to time.Time, step time.Duration) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := from; at.Before(to); at = at.Add(step) {
		if n := c.runs[at.Unix()]; n != 1 {
			t.Errorf("tick %s has %d runs, want 1", at.Format(time.TimeOnly), n)
		}
	}
}

// checkAtMostOnce fails the test if a tick has more than one run.
func (c *runCounter) checkAtMostOnce(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, runs := range c.runs {
		if runs != 1 {
			t.Errorf("%d runs at %d", runs, at)
		}
	}
}

func (c *runCounter) total() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, runs := range c.runs {
		n += runs
	}
	return n
}

// single returns a single-run job.
func single(spec string, fn func(ctx context.Context), options ...cronx.JobOption) *cronx.Job {
	return cronx.NewJob(spec, fn,
		append(options, cronx.WithName("single"), cronx.WithSingleRun())...)
}

func TestSingleRun(t *testing.T) {
	// Replicas start and stop, with clocks that differ by up to 20 s.
	t.Run("runs each tick once with different clocks", func(t *testing.T) {
		for _, overlap := range []bool{false, true} {
			t.Run(fmt.Sprint("overlap ", overlap), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					capture(t)
					c := newCluster()
					var counter runCounter
					var options []cronx.JobOption
					if overlap {
						options = append(options, cronx.WithOverlap())
					}
					startReplica := func(skew time.Duration) *service {
						return serve(t, leased(t, c.leases(t)), runner.WithNow(skewed(skew)),
							runner.WithRegister(single("* * * * * *", func(ctx context.Context) {
								counter.add(ctx)
								sleep(10 * time.Millisecond)
							}, options...)))
					}
					first := startReplica(0)
					sleep(5 * time.Second)
					startReplica(-15 * time.Second)
					sleep(5*time.Second + 300*time.Millisecond)
					ahead := startReplica(4 * time.Second)
					startReplica(-1700 * time.Millisecond)
					sleep(10 * time.Second)
					if err := first.stop(); err != nil {
						t.Error(err)
					}
					startReplica(900 * time.Millisecond)
					sleep(10 * time.Second)
					if err := ahead.stop(); err != nil {
						t.Error(err)
					}
					sleep(30 * time.Second)
					counter.check(t, epoch.Add(time.Second), epoch.Add(60*time.Second), time.Second)
				})
			})
		}
	})

	t.Run("skips ticks during a long run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			c := newCluster()
			var running, maxRunning, runs atomic.Int64
			for range 5 {
				serve(t, leased(t, c.leases(t)), runner.WithRegister(
					single("*/10 * * * * *", func(context.Context) {
						runs.Add(1)
						maxRunning.Store(max(maxRunning.Load(), running.Add(1)))
						sleep(55 * time.Second) // longer than the TTL of its lease
						running.Add(-1)
					})))
			}
			sleep(2*time.Minute + 5*time.Second)
			if maxRunning.Load() != 1 || runs.Load() != 2 || len(out.with("tick skipped")) != 10 {
				t.Errorf("concurrency %d, %d runs, %d skipped, want 1, 2, 10",
					maxRunning.Load(), runs.Load(), len(out.with("tick skipped")))
			}
			sleep(time.Minute)
		})
	})

	t.Run("cancels a run that lost its lease", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			c := newCluster()
			causes := make(chan error, 1)
			serve(t, leased(t, c.leases(t)), runner.WithLeaseTTL(15*time.Second),
				runner.WithRegister(
					single("@every 1m", func(ctx context.Context) {
						c.set(func(c *cluster) {
							c.fail = func(string) error { return errors.New("down") }
						})
						<-ctx.Done()
						causes <- context.Cause(ctx)
						c.set(func(c *cluster) { c.fail = nil })
					})))
			sleep(80 * time.Second)
			if cause := <-causes; !errors.Is(cause, xlease.ErrLost) ||
				len(out.with("run finished after its lease was lost")) != 1 {
				t.Errorf("cause = %v, log = %s, want ErrLost and a warning", cause, out)
			}
		})
	})

	t.Run("does not run a tick while the backend is unavailable", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			c := newCluster()
			c.fail = func(string) error { return errors.New("the backend is down") }
			var counter runCounter
			for range 3 {
				serve(t, leased(t, c.leases(t)),
					runner.WithRegister(single("@every 1m", counter.add)))
			}
			sleep(95 * time.Second)
			found := out.with("tick not run: backend unavailable")
			if counter.total() != 0 || len(found) != 3 || found[0]["level"] != "warn" ||
				!strings.Contains(out.String(), "the backend is down") {
				t.Errorf("%d runs, log = %s, want 0 and a warning of each replica",
					counter.total(), out)
			}
			sleep(20 * time.Second) // the backend recovers shortly after the next tick
			go func() {
				sleep(15 * time.Second)
				c.set(func(c *cluster) { c.fail = nil })
			}()
			sleep(30 * time.Second)
			counter.check(t, epoch.Add(2*time.Minute), epoch.Add(2*time.Minute+time.Second),
				time.Second)
			if counter.total() != 1 {
				t.Errorf("%d runs, want 1 late run", counter.total())
			}
		})
	})

	// The clock of the replica is 34 s ahead.
	t.Run("waits until a tick is due by the backend's clock", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			var counter runCounter
			serve(t, leased(t, newCluster().leases(t)), runner.WithNow(skewed(34*time.Second)),
				runner.WithRegister(single("@every 2m", func(ctx context.Context) {
					tick, _ := cronx.TickFrom(ctx)
					early := time.Until(tick.Time)
					if early > 5*time.Second || early < -30*time.Second {
						t.Errorf("tick %s ran %s early", tick.Time, early)
					}
					counter.add(ctx)
				})))
			sleep(21 * time.Minute)
			counter.check(t, epoch.Add(2*time.Minute), epoch.Add(21*time.Minute), 2*time.Minute)
			if found := out.with("tick not run"); len(found) != 0 {
				t.Errorf("log = %v, want no rejected tick", found)
			}
		})
	})

	t.Run("leaves a tick to other replicas during shutdown", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			capture(t)
			c := newCluster()
			var counter runCounter
			called := make(chan struct{}, 100)
			c.fail = func(string) error {
				select {
				case called <- struct{}{}:
				default:
				}
				<-time.After(50 * time.Millisecond)
				return nil
			}
			var all []*service
			for range 2 {
				all = append(all, serve(t, leased(t, c.leases(t)),
					runner.WithRegister(single("@every 1m", counter.add))))
			}
			<-called // the claim of the tick is in progress
			if err := all[0].stop(); err != nil {
				t.Error(err)
			}
			sleep(90 * time.Second)
			if counter.total() != 2 {
				t.Errorf("%d runs of two ticks, want 2", counter.total())
			}
		})
	})

	t.Run("runs a tick after a crash during its claim", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			capture(t)
			c := newCluster()
			started := make(chan time.Time, 9)
			for range 3 {
				serve(t, leased(t, c.leases(t)), runner.WithRegister(
					single("@every 1m", func(context.Context) { started <- time.Now() })))
			}
			sleep(time.Minute - time.Millisecond)
			crash(t, c, "plinth.cron/single", 15*time.Second, xlease.WithMark(0, 0))
			sleep(50 * time.Second)
			if len(started) != 1 {
				t.Fatalf("%d runs, want 1", len(started))
			}
			if late := (<-started).Sub(epoch.Add(time.Minute)); late > 16*time.Second {
				t.Errorf("the tick ran after %s, want about 15 s at most", late)
			}
		})
	})

	t.Run("blocks runs after a crash until the lease expires", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			c := newCluster()
			var counter runCounter
			for range 3 {
				serve(t, leased(t, c.leases(t)),
					runner.WithRegister(single("*/10 * * * * *", counter.add)))
			}
			sleep(5 * time.Second)
			crash(t, c, "plinth.cron.run/single", 30*time.Second)
			sleep(56 * time.Second)
			counter.check(t, epoch.Add(40*time.Second), epoch.Add(61*time.Second), 10*time.Second)
			if skipped := out.with("tick skipped"); len(skipped) != 3 || counter.total() != 3 {
				t.Errorf("%d skipped, %d runs, want 3 and 3", len(skipped), counter.total())
			}
		})
	})
}

// crash acquires a lease and does not release it, like a replica that crashes.
func crash(
	t *testing.T, c *cluster, name string, ttl time.Duration, options ...xlease.LeaseOption,
) {
	t.Helper()
	l := xlease.New(c) // not closed
	if _, err := l.Lease(t.Context(), name, ttl,
		append(options, xlease.WithManualRenewal())...); err != nil {
		t.Fatal(err)
	}
}

func TestSingleRun_ClockSkew(t *testing.T) {
	// One replica has a wrong clock.
	t.Run("runs no tick twice", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			skew time.Duration
			log  string
		}{
			{name: "a minute behind", skew: -time.Minute, log: ""},
			{name: "an hour behind", skew: -time.Hour, log: ""},
			{name: "20 s ahead", skew: 20 * time.Second, log: ""},
			{
				name: "an hour ahead",
				skew: time.Hour + time.Second, log: "tick not run: clock differs",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					c := newCluster()
					var counter runCounter
					for _, skew := range []time.Duration{0, tc.skew} {
						serve(t, leased(t, c.leases(t)), runner.WithNow(skewed(skew)),
							runner.WithRegister(single("0 * * * * *", counter.add)))
					}
					sleep(10*time.Minute + 30*time.Second)
					counter.check(t, epoch.Add(time.Minute), epoch.Add(10*time.Minute), time.Minute)
					counter.checkAtMostOnce(t)
					if !strings.Contains(out.String(), tc.log) {
						t.Errorf("log = %s, want %q", out, tc.log)
					}
				})
			})
		}
	})

	t.Run("warns if all clocks differ from the backend's clock", func(t *testing.T) {
		for name, skew := range map[string]time.Duration{
			"behind": -70 * time.Second,
			"ahead":  70 * time.Second,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					var counter runCounter
					serve(t, leased(t, newCluster().leases(t)), runner.WithNow(skewed(skew)),
						runner.WithRegister(single("0 * * * * *", counter.add)))
					sleep(5 * time.Minute)
					if counter.total() != 0 || len(out.with("tick not run: clock differs")) < 4 {
						t.Errorf("%d runs, log = %s, want 0 and warnings", counter.total(), out)
					}
				})
			})
		}
	})
}
