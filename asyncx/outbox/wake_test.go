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

// startWorker starts a worker on a new database. It stops at the end of the test.
func startWorker(
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
			{
				name: "retry",
				outcome: jobdriver.Outcome{
					Action: jobdriver.Retry, Wait: 20 * time.Millisecond,
				},
			},
			{name: "immediate retry", outcome: jobdriver.Outcome{Action: jobdriver.Retry}},
			{
				name: "release",
				outcome: jobdriver.Outcome{
					Action: jobdriver.Release, Wait: 20 * time.Millisecond,
				},
			},
			{name: "immediate release", outcome: jobdriver.Outcome{Action: jobdriver.Release}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				const attempts = 5
				started := make(chan time.Time, attempts)
				run := func(jobdriver.Attempt) jobdriver.Outcome {
					if started <- time.Now(); len(started) == attempts {
						return jobdriver.Outcome{}
					}
					return tc.outcome
				}
				ctx, e := startWorker(t, []string{"test"}, run)
				// The first job of the priority is always due and has no handler.
				unhandled := newJobs(1, func(j *jobdriver.Job) { j.Kind = "other" })
				if err := e.Insert(ctx, append(unhandled, newJobs(1)...)); err != nil {
					t.Fatal(err)
				}
				eventually(t, "all attempts have started",
					func() bool { return len(started) == attempts })
				first := <-started
				for range attempts - 1 {
					next := <-started
					if after := next.Sub(first); after < tc.outcome.Wait-2*time.Millisecond ||
						after > 2*time.Second {
						t.Errorf("the next attempt came after %s, want %s", after, tc.outcome.Wait)
					}
					first = next
				}
			})
		}
	})

	t.Run("runs a delayed job on time if a job without a handler is due", func(t *testing.T) {
		t.Parallel()
		ran := make(chan string, 9)
		ctx, e := startWorker(t, []string{"test"}, func(a jobdriver.Attempt) jobdriver.Outcome {
			ran <- a.ID
			return jobdriver.Outcome{}
		})
		unhandled := newJobs(1, func(j *jobdriver.Job) { j.Kind = "other" })
		now := newJobs(1)
		late := newJobs(2, func(j *jobdriver.Job) { j.Delay = 300 * time.Millisecond })
		if err := e.Insert(ctx, append(append(unhandled, now...), late...)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		eventually(t, "all jobs ran", func() bool { return len(ran) == 3 })
		elapsed := time.Since(start)
		if elapsed < 290*time.Millisecond || elapsed > 20*time.Second {
			t.Errorf("the last job ran after %s, want the delay of 300ms", elapsed)
		}
	})
}
