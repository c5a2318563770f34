package runner_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/cronx/runner"
)

// Calls of each kind fail before or after the backend executes them.
func TestSingleRun_LostCalls(t *testing.T) {
	for _, call := range []string{
		"acquire plinth.cron/", "release plinth.cron/",
		"acquire plinth.cron.run/", "release plinth.cron.run/",
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(call+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { failCalls(t, call, when == "after") })
			})
		}
	}
}

// failCalls makes a third of the calls fail, or a third of the responses. The choice is
// random, because every third call could always be that of the same replica.
func failCalls(t *testing.T, call string, responses bool) {
	t.Helper()
	out := capture(t)
	c := newCluster()
	failThird := func(name string) error {
		if strings.HasPrefix(name, call) && rand.IntN(3) == 0 {
			return errors.New("connection reset")
		}
		return nil
	}
	if responses {
		c.after = failThird
	} else {
		c.fail = failThird
	}
	var counter runCounter
	for range 3 {
		serve(t, leased(t, c.leases(t)), runner.WithRegister(single("@every 45s", counter.add)))
	}
	sleep(time.Hour)
	counter.checkAtMostOnce(t)
	if total := counter.total(); total > 80 || total < 20 {
		t.Errorf("%d runs of 80 ticks", total)
	}
	logged := map[any]bool{}
	for _, line := range out.with("tick not run") {
		logged[line["tick"]] = true
	}
	counter.mu.Lock()
	defer counter.mu.Unlock()
	const interval = 45 * time.Second
	end := epoch.Add(59 * time.Minute)
	for at := epoch.Add(interval); at.Before(end); at = at.Add(interval) {
		if counter.runs[at.Unix()] == 0 && !logged[at.In(time.Local).Format(time.RFC3339)] {
			t.Errorf("%s did not run, and no warning was logged", at)
		}
	}
}

func TestSingleRun_Shutdown(t *testing.T) {
	t.Run("cancels a claimed tick that waits for the previous run", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			out := capture(t)
			c := newCluster()
			c.fail = func(call string) error {
				if strings.HasPrefix(call, "acquire plinth.cron.run/") {
					return errors.New("the backend is down")
				}
				return nil
			}
			s := serve(t, leased(t, c.leases(t)), runner.WithGracefulStopTimeout(5*time.Second),
				runner.WithRegister(single("@every 1m", nothing)))
			sleep(61 * time.Second)
			if err := s.stop(); err == nil || err.Error() != stopped+"canceled: single" {
				t.Errorf("shutdown returned %v, want the canceled jobs", err)
			}
			if len(out.with("tick not run: claimed")) != 1 {
				t.Errorf("log = %s, want a warning", out)
			}
		})
	})

	// The runner is stopped one second after a tick, during a slow call, with a graceful
	// stop timeout of one second.
	t.Run("stops during a claim", func(t *testing.T) {
		for _, tc := range []struct {
			name     string
			call     string
			duration time.Duration
			want     string
			log      string
		}{
			{
				name: "not claimed",
				call: "acquire plinth.cron/", duration: 2500 * time.Millisecond,
				log: "tick not run: shutdown started",
			},
			{
				name: "claimed",
				call: "release plinth.cron/", duration: 2500 * time.Millisecond,
				want: stopped + "canceled: single", log: "tick not run: claimed",
			},
			{
				name: "no response in time",
				call: "release plinth.cron/", duration: 10 * time.Second,
				want: stopped + "abandoned: backend call",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := capture(t)
					c := newCluster()
					c.after = func(call string) error {
						if strings.HasPrefix(call, tc.call) {
							sleep(tc.duration)
						}
						return nil
					}
					s := serve(t, leased(t, c.leases(t)),
						runner.WithGracefulStopTimeout(time.Second),
						runner.WithRegister(single("@every 1m", nothing)))
					sleep(61 * time.Second)
					err := s.stop()
					if (err == nil) != (tc.want == "") || err != nil && err.Error() != tc.want {
						t.Errorf("shutdown returned %v, want %q", err, tc.want)
					}
					if !strings.Contains(out.String(), tc.log) {
						t.Errorf("log = %s, want %q", out, tc.log)
					}
					sleep(20 * time.Second)
				})
			})
		}
	})
}
