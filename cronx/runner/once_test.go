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

// tally counts runs by their ticks.
type tally struct {
	mu   sync.Mutex
	runs map[int64]int
}

func (y *tally) add(ctx context.Context) {
	tick, _ := cronx.TickFrom(ctx)
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.runs == nil {
		y.runs = map[int64]int{}
	}
	y.runs[tick.Time.Unix()]++
}

// check fails the test unless the ticks of every second from one moment on, to before
// another, have one run each.
func (y *tally) check(t *testing.T, from, to time.Time, step time.Duration) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	for at := from; at.Before(to); at = at.Add(step) {
		if n := y.runs[at.Unix()]; n != 1 {
			t.Errorf("the tick %s has %d runs, want 1", at.Format(time.TimeOnly), n)
		}
	}
}

// never fails the test where a tick has more than one run.
func (y *tally) never(t *testing.T) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	for at, runs := range y.runs {
		if runs != 1 {
			t.Errorf("%d runs at %d", runs, at)
		}
	}
}

func (y *tally) total() (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, runs := range y.runs {
		n += runs
	}
	return n
}

// single is a job that runs once in a cluster.
func single(spec string, fn func(ctx context.Context), options ...cronx.JobOption) *cronx.Job {
	return cronx.NewJob(spec, fn,
		append(options, cronx.WithName("single"), cronx.WithSingleRun())...)
}

// TestReplicasWithClocksOfTheirOwnRunEachTickOnce has replicas come and go, whose clocks
// are up to 20 s apart.
func TestReplicasWithClocksOfTheirOwnRunEachTickOnce(t *testing.T) {
	for _, overlap := range []bool{false, true} {
		t.Run(fmt.Sprint("overlap ", overlap), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				capture(t)
				c := newCluster()
				var y tally
				var options []cronx.JobOption
				if overlap {
					options = append(options, cronx.WithOverlap())
				}
				begin := func(skew time.Duration) *service {
					return serve(t, leased(t, c.leases(t)), runner.WithNow(skewed(skew)),
						runner.WithRegister(single("* * * * * *", func(ctx context.Context) {
							y.add(ctx)
							pass(10 * time.Millisecond)
						}, options...)))
				}
				first := begin(0)
				pass(5 * time.Second)
				begin(-15 * time.Second)
				pass(5*time.Second + 300*time.Millisecond)
				ahead := begin(4 * time.Second)
				begin(-1700 * time.Millisecond)
				pass(10 * time.Second)
				if err := first.stop(); err != nil {
					t.Error(err)
				}
				begin(900 * time.Millisecond)
				pass(10 * time.Second)
				if err := ahead.stop(); err != nil {
					t.Error(err)
				}
				pass(30 * time.Second)
				y.check(t, bubble.Add(time.Second), bubble.Add(60*time.Second), time.Second)
			})
		})
	}
}

func TestALongRunIsAloneInTheClusterAndEachSkippedTickIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		c := newCluster()
		var now, most, runs atomic.Int64
		for range 5 {
			serve(t, leased(t, c.leases(t)), runner.WithRegister(
				single("*/10 * * * * *", func(context.Context) {
					runs.Add(1)
					most.Store(max(most.Load(), now.Add(1)))
					pass(55 * time.Second) // longer than the TTL of its lease
					now.Add(-1)
				})))
		}
		pass(2*time.Minute + 5*time.Second)
		if most.Load() != 1 || runs.Load() != 2 || len(out.with("tick skipped")) != 10 {
			t.Errorf("%d at a time, %d runs, %d skipped, want 1, 2, 10",
				most.Load(), runs.Load(), len(out.with("tick skipped")))
		}
		pass(time.Minute)
	})
}

func TestALostLeaseEndsTheContextOfTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		c := newCluster()
		causes := make(chan error, 1)
		serve(t, leased(t, c.leases(t)), runner.WithLeaseTTL(15*time.Second), runner.WithRegister(
			single("@every 1m", func(ctx context.Context) {
				c.set(func(c *cluster) {
					c.fail = func(string) error { return errors.New("down") }
				})
				<-ctx.Done()
				causes <- context.Cause(ctx)
				c.set(func(c *cluster) { c.fail = nil })
			})))
		pass(80 * time.Second)
		if cause := <-causes; !errors.Is(cause, xlease.ErrLost) ||
			len(out.with("run ended after its lease was lost")) != 1 {
			t.Errorf("cause = %v, log = %s, want ErrLost and a warning", cause, out)
		}
	})
}

func TestATickIsNotRunWhereNobodyAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		c := newCluster()
		c.fail = func(string) error { return errors.New("the backend is down") }
		var y tally
		for range 3 {
			serve(t, leased(t, c.leases(t)), runner.WithRegister(single("@every 1m", y.add)))
		}
		pass(95 * time.Second)
		found := out.with("tick not run: no answer")
		if y.total() != 0 || len(found) != 3 || found[0]["level"] != "warn" ||
			!strings.Contains(out.String(), "the backend is down") {
			t.Errorf("%d runs, log = %s, want none, and a warning of each replica", y.total(), out)
		}
		pass(20 * time.Second) // the backend is back shortly after the next tick
		go func() {
			pass(15 * time.Second)
			c.set(func(c *cluster) { c.fail = nil })
		}()
		pass(30 * time.Second)
		y.check(t, bubble.Add(2*time.Minute), bubble.Add(2*time.Minute+time.Second), time.Second)
		if y.total() != 1 {
			t.Errorf("%d runs, want 1, which came late", y.total())
		}
	})
}

// TestAReplicaThatIsAheadWaitsUntilATickIsDueByTheBackendsClock has one replica, which
// comes to each tick 34 s too early.
func TestAReplicaThatIsAheadWaitsUntilATickIsDueByTheBackendsClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		var y tally
		serve(t, leased(t, newCluster().leases(t)), runner.WithNow(skewed(34*time.Second)),
			runner.WithRegister(single("@every 2m", func(ctx context.Context) {
				tick, _ := cronx.TickFrom(ctx)
				if off := time.Until(tick.Time); off > 5*time.Second || off < -30*time.Second {
					t.Errorf("the tick %s is run %s before its time", tick.Time, off)
				}
				y.add(ctx)
			})))
		pass(21 * time.Minute)
		y.check(t, bubble.Add(2*time.Minute), bubble.Add(21*time.Minute), 2*time.Minute)
		if found := out.with("tick not run"); len(found) != 0 {
			t.Errorf("log = %v, want no tick that is not run", found)
		}
	})
}

func TestAReplicaThatStopsLeavesTheTickToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		capture(t)
		c := newCluster()
		var y tally
		asked := make(chan struct{}, 100)
		c.fail = func(string) error {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-time.After(50 * time.Millisecond)
			return nil
		}
		var all []*service
		for range 2 {
			all = append(all, serve(t, leased(t, c.leases(t)),
				runner.WithRegister(single("@every 1m", y.add))))
		}
		<-asked // the tick is there, and who takes it is being asked
		if err := all[0].stop(); err != nil {
			t.Error(err)
		}
		pass(90 * time.Second)
		if y.total() != 2 {
			t.Errorf("%d runs of two ticks, want 2", y.total())
		}
	})
}

// dead takes a lease as a replica that then dies.
func dead(t *testing.T, c *cluster, name string, ttl time.Duration, options ...xlease.LeaseOption) {
	t.Helper()
	l := xlease.New(c) // which nobody closes
	if _, err := l.Lease(t.Context(), name, ttl,
		append(options, xlease.WithManualRenewal())...); err != nil {
		t.Fatal(err)
	}
}

func TestAReplicaThatDiesWhileItTakesATickHoldsItUpForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		capture(t)
		c := newCluster()
		began := make(chan time.Time, 9)
		for range 3 {
			serve(t, leased(t, c.leases(t)), runner.WithRegister(
				single("@every 1m", func(context.Context) { began <- time.Now() })))
		}
		pass(time.Minute - time.Millisecond)
		dead(t, c, "plinth.cron/single", 15*time.Second, xlease.WithMark(0, 0))
		pass(50 * time.Second)
		if len(began) != 1 {
			t.Fatalf("%d runs, want 1", len(began))
		}
		if late := (<-began).Sub(bubble.Add(time.Minute)); late > 16*time.Second {
			t.Errorf("the tick was run after %s, want at most 15 s and a bit", late)
		}
	})
}

func TestAReplicaThatDiesDuringARunHoldsUpTheNextOnesAsLongAsItsLeaseLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		c := newCluster()
		var y tally
		for range 3 {
			serve(t, leased(t, c.leases(t)), runner.WithRegister(single("*/10 * * * * *", y.add)))
		}
		pass(5 * time.Second)
		dead(t, c, "plinth.cron.run/single", 30*time.Second)
		pass(56 * time.Second)
		y.check(t, bubble.Add(40*time.Second), bubble.Add(61*time.Second), 10*time.Second)
		if skipped := out.with("tick skipped"); len(skipped) != 3 || y.total() != 3 {
			t.Errorf("%d skipped, %d runs, want 3 and 3", len(skipped), y.total())
		}
	})
}

// TestClocksThatAreFarOffRunNothingTwice has a replica whose clock is that of no other.
func TestClocksThatAreFarOffRunNothingTwice(t *testing.T) {
	for _, tc := range []struct {
		name string
		skew time.Duration
		log  string
	}{
		{name: "a minute behind", skew: -time.Minute, log: ""},
		{name: "an hour behind", skew: -time.Hour, log: ""},
		{name: "20 s ahead: it waits", skew: 20 * time.Second, log: ""},
		{name: "an hour ahead", skew: time.Hour + time.Second, log: "tick not run: by the clock"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := capture(t)
				c := newCluster()
				var y tally
				for _, skew := range []time.Duration{0, tc.skew} {
					serve(t, leased(t, c.leases(t)), runner.WithNow(skewed(skew)),
						runner.WithRegister(single("0 * * * * *", y.add)))
				}
				pass(10*time.Minute + 30*time.Second)
				y.check(t, bubble.Add(time.Minute), bubble.Add(10*time.Minute), time.Minute)
				y.never(t)
				if !strings.Contains(out.String(), tc.log) {
					t.Errorf("log = %s, want %q", out, tc.log)
				}
			})
		})
	}
}

func TestAClusterWhoseClockIsFarFromTheBackendsSaysSo(t *testing.T) {
	for name, skew := range map[string]time.Duration{
		"behind": -70 * time.Second,
		"ahead":  70 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := capture(t)
				var y tally
				serve(t, leased(t, newCluster().leases(t)), runner.WithNow(skewed(skew)),
					runner.WithRegister(single("0 * * * * *", y.add)))
				pass(5 * time.Minute)
				if y.total() != 0 || len(out.with("tick not run: by the clock")) < 4 {
					t.Errorf("%d runs, log = %s, want none and warnings", y.total(), out)
				}
			})
		})
	}
}
