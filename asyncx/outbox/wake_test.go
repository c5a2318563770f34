//go:build unix

package outbox_test

import (
	"context"
	"sync"
	"testing"
	"time"

	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
)

// longPoll is a poll interval that no test waits for.
const longPoll = time.Hour

// busy starts a worker on a new database and stops it at the end of the test.
func busy(
	t *testing.T, kinds []string, run func(a jobdriver.Attempt) jobdriver.Outcome,
) (ctx context.Context, e jobdriver.Engine) {
	t.Helper()
	ctx, e = engine(t, inMemory(t))
	working, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() {
		err := e.Work(working, jobdriver.Work{
			Kinds: kinds, Concurrency: 3, PollInterval: longPoll,
			Run: func(_ context.Context, a jobdriver.Attempt) jobdriver.Outcome { return run(a) },
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return ctx, e
}

func TestEngine_Work_Wake(t *testing.T) {
	t.Parallel()

	t.Run("runs retried and released jobs before the next poll", func(t *testing.T) {
		t.Parallel()
		for _, tc := range []struct {
			name    string
			outcome jobdriver.Outcome
		}{
			{name: "retry", outcome: jobdriver.Outcome{
				Action: jobdriver.Retry,
				Wait:   20 * time.Millisecond,
			}},
			{name: "immediate retry", outcome: jobdriver.Outcome{Action: jobdriver.Retry}},
			{name: "release", outcome: jobdriver.Outcome{
				Action: jobdriver.Release,
				Wait:   20 * time.Millisecond,
			}},
			{name: "immediate release", outcome: jobdriver.Outcome{Action: jobdriver.Release}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				const attempts = 5
				begun := make(chan time.Time, attempts)
				ctx, e := busy(t, []string{"test"}, func(jobdriver.Attempt) jobdriver.Outcome {
					if begun <- time.Now(); len(begun) == attempts {
						return jobdriver.Outcome{}
					}
					return tc.outcome
				})
				// The first job of the priority is always due, and has no handler.
				strange := some(1, func(j *jobdriver.Job) { j.Kind = "other" })
				if err := e.Insert(ctx, append(strange, some(1)...)); err != nil {
					t.Fatal(err)
				}
				eventually(t, "all attempts are made",
					func() bool { return len(begun) == attempts })
				first := <-begun
				for range attempts - 1 {
					next := <-begun
					if after := next.Sub(first); after < tc.outcome.Wait-2*time.Millisecond ||
						after > 2*time.Second {
						t.Errorf("the next attempt came after %s, want %s", after, tc.outcome.Wait)
					}
					first = next
				}
			})
		}
	})

	t.Run("runs a delayed job on time behind a job without a handler", func(t *testing.T) {
		t.Parallel()
		ran := make(chan string, 9)
		ctx, e := busy(t, []string{"test"}, func(a jobdriver.Attempt) jobdriver.Outcome {
			ran <- a.ID
			return jobdriver.Outcome{}
		})
		strange := some(1, func(j *jobdriver.Job) { j.Kind = "other" })
		now, late := some(1), some(2, func(j *jobdriver.Job) { j.Delay = 300 * time.Millisecond })
		if err := e.Insert(ctx, append(append(strange, now...), late...)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		eventually(t, "all jobs ran", func() bool { return len(ran) == 3 })
		if took := time.Since(start); took < 290*time.Millisecond || took > 20*time.Second {
			t.Errorf("took %s, want the delay of 300ms", took)
		}
	})
}
