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

// TestNoTickIsRunTwiceWhateverCallIsLost loses calls of every kind before they are
// carried out, and their answers after that.
func TestNoTickIsRunTwiceWhateverCallIsLost(t *testing.T) {
	for _, call := range []string{
		"acquire plinth.cron/", "release plinth.cron/",
		"acquire plinth.cron.run/", "release plinth.cron.run/",
	} {
		for _, when := range []string{"before", "after"} {
			t.Run(call+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { lose(t, call, when == "after") })
			})
		}
	}
}

// lose loses a third of some calls, or of their answers. Which they are is left to
// chance: where it was every third, it could always be that of the same replica.
func lose(t *testing.T, call string, answers bool) {
	t.Helper()
	out := capture(t)
	c := newCluster()
	third := func(done string) error {
		if strings.HasPrefix(done, call) && rand.IntN(3) == 0 {
			return errors.New("connection reset")
		}
		return nil
	}
	if answers {
		c.after = third
	} else {
		c.fail = third
	}
	var y tally
	for range 3 {
		serve(t, leased(t, c.leases(t)), runner.WithRegister(single("@every 45s", y.add)))
	}
	pass(time.Hour)
	y.never(t)
	if total := y.total(); total > 80 || total < 20 {
		t.Errorf("%d runs of 80 ticks", total)
	}
	told := map[any]bool{}
	for _, line := range out.with("tick not run") {
		told[line["tick"]] = true
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for at := bubble.Add(45 * time.Second); at.Before(bubble.Add(59 * time.Minute)); at = at.Add(
		45 * time.Second) {
		if y.runs[at.Unix()] == 0 && !told[at.In(time.Local).Format(time.RFC3339)] {
			t.Errorf("%s was not run, and nobody said so", at)
		}
	}
}

func TestATickThatIsTakenAndWaitsForTheRunBeforeIsCutOffAtTheStop(t *testing.T) {
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
		pass(61 * time.Second)
		if err := s.stop(); err == nil || err.Error() != stopped+"cut off: single" {
			t.Errorf("the stop said %v, want what was cut off", err)
		}
		if len(out.with("tick not run: it was taken")) != 1 {
			t.Errorf("log = %s, want a warning", out)
		}
	})
}

// TestAStopWhileATickIsBeingTaken stops a second after a tick, with a second of patience,
// while a call is slow.
func TestAStopWhileATickIsBeingTaken(t *testing.T) {
	for _, tc := range []struct {
		name  string
		call  string
		takes time.Duration
		want  string
		log   string
	}{
		{
			name: "it is not taken any more: another replica may run it",
			call: "acquire plinth.cron/", takes: 2500 * time.Millisecond,
			log: "tick not run: the stop has begun",
		},
		{
			name: "it turns out to be taken", call: "release plinth.cron/",
			takes: 2500 * time.Millisecond,
			want:  stopped + "cut off: single", log: "tick not run: it was taken",
		},
		{
			name: "nobody says so in time", call: "release plinth.cron/",
			takes: 10 * time.Second, want: stopped + "left behind: a call to the backend",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := capture(t)
				c := newCluster()
				c.after = func(call string) error {
					if strings.HasPrefix(call, tc.call) {
						pass(tc.takes)
					}
					return nil
				}
				s := serve(t, leased(t, c.leases(t)), runner.WithGracefulStopTimeout(time.Second),
					runner.WithRegister(single("@every 1m", nothing)))
				pass(61 * time.Second)
				if err := s.stop(); (err == nil) != (tc.want == "") || err != nil &&
					err.Error() != tc.want {
					t.Errorf("the stop said %v, want %q", err, tc.want)
				}
				if !strings.Contains(out.String(), tc.log) {
					t.Errorf("log = %s, want %q", out, tc.log)
				}
				pass(20 * time.Second)
			})
		})
	}
}
