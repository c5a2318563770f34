package asynq_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

func TestEngine_SmallPool(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	p.config.PoolSize = 2
	ctx, e, _ := p.open(t)
	for _, tc := range []struct {
		name   string
		state  driver.State
		change func(ctx context.Context, id string) error
	}{
		{"deletes more jobs at once than connections exist", driver.Waiting, e.Delete},
		{"replays more jobs at once than connections exist", driver.Dead, e.Replay},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			jobs := newJobs(16, ofKind("kind."+string(tc.state)))
			if err := e.Insert(ctx, jobs); err != nil {
				t.Fatal(err)
			}
			if tc.state == driver.Dead {
				discard(t, ctx, e, jobs)
			}
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			var running sync.WaitGroup
			for i := range jobs {
				running.Go(func() {
					if err := tc.change(ctx, jobs[i].ID); err != nil {
						t.Errorf("change of job %d: %v, want nil", i, err)
					}
				})
			}
			running.Wait()
		})
	}
}

// discard runs a worker that dead-letters the jobs.
func discard(t *testing.T, ctx context.Context, e driver.Engine, jobs []driver.Job) {
	t.Helper()
	stop := work(t, ctx, e, driver.Work{
		Kinds: []string{jobs[0].Kind}, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run: func(context.Context, driver.Attempt) driver.Outcome {
			return driver.Outcome{Action: driver.Discard, Error: "no good"}
		},
	})
	defer stop()
	for i := range jobs {
		eventually(t, "the job is dead", func() bool {
			r, err := e.Get(ctx, jobs[i].ID)
			return err == nil && r.State == driver.Dead
		})
	}
}
