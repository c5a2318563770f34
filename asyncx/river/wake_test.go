package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/conformance/dbtest"
)

// workOn runs jobs until the end of the test, and returns a channel of started attempts.
func workOn(t *testing.T, engine driver.Engine, ctx context.Context, //nolint:revive // context-as-argument: the engine's
	poll time.Duration,
) <-chan driver.Attempt {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	started, ended := make(chan driver.Attempt, 100), make(chan error, 1)
	w := work(func(_ context.Context, a driver.Attempt) driver.Outcome {
		if started <- a; a.Number == 1 && a.MaxAttempts == 1 {
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		}
		return driver.Outcome{}
	}, quickKind)
	w.PollInterval = poll
	go func() { ended <- engine.Work(ctx, w) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	return started
}

// within waits for an attempt.
func within(t *testing.T, started <-chan driver.Attempt, d time.Duration, id string) {
	t.Helper()
	select {
	case a := <-started:
		if a.ID != id {
			t.Fatalf("job %s runs, want %s", a.ID, id)
		}
	case <-time.After(d):
		t.Fatalf("no job started within %s", d)
	}
}

func TestEngine_Work(t *testing.T) {
	t.Parallel()

	t.Run("wakes workers of other processes", func(t *testing.T) {
		t.Parallel()
		_, c := find(t)
		c = newDatabase(t, c)
		worker, ctx := replica(t, c, river.WithSchema("jobs"))
		sender, senderCtx := replica(t, c, river.WithSchema("jobs"))
		// so that only a notification can start the job in time
		started := workOn(t, worker, ctx, time.Hour)
		for range 3 {
			jobs, ids := newJobs(quickKind, 1)
			jobs[0].MaxAttempts = 1
			must(t, sender.Insert(senderCtx, jobs))
			within(t, started, 30*time.Second, ids[0])
			await(t, sender, senderCtx, ids[0], driver.Dead)
			must(t, sender.Replay(senderCtx, ids[0]))
			within(t, started, 30*time.Second, ids[0])
		}
	})

	t.Run("schedules long delays after the leader's crash", func(t *testing.T) {
		t.Parallel()
		_, c := find(t)
		c = newDatabase(t, c)
		network := dbtest.CutOff(t, c)
		first, firstCtx := replica(t, network.Config)
		second, ctx := replica(t, c)
		conn := admin(t, c)
		leads := workOn(t, first, firstCtx, time.Second)
		jobs, ids := newJobs(quickKind, 1)
		jobs[0].MaxAttempts = 1
		must(t, second.Insert(ctx, jobs))
		// it may be elected before it has started, and then it fails without a network
		within(t, leads, time.Minute, ids[0])
		await(t, second, ctx, ids[0], driver.Dead)
		late := time.After(time.Minute)
		for ask[int](t, conn, "SELECT count(*) FROM river_leader") == 0 {
			select {
			case <-time.After(50 * time.Millisecond):
			case <-late:
				t.Fatal("no leader")
			}
		}
		started := workOn(t, second, ctx, time.Second)
		must(t, network.Stop())
		jobs, ids = newJobs(quickKind, 1)
		jobs[0].Delay = 6 * time.Second
		must(t, second.Insert(ctx, jobs))
		stored := time.Now()
		within(t, started, 2*time.Minute, ids[0])
		t.Logf("%s late", (time.Since(stored) - jobs[0].Delay).Round(100*time.Millisecond))
		must(t, network.Start())
	})
}

func TestEngine_Insert_WrappedArguments(t *testing.T) {
	t.Parallel()
	engine, ctx := fresh(t)
	for _, args := range []string{
		`{"plinth_json": "1"}`, `"plinth_json"`,
		`{"a":"\u0000","plinth_json":{}}`, `"\uD800"`,
	} {
		jobs, ids := newJobs(quickKind, 1)
		jobs[0].Args = []byte(args)
		must(t, engine.Insert(ctx, jobs))
		r, err := engine.Get(ctx, ids[0])
		must(t, err)
		if string(r.Args) != args {
			t.Errorf("arguments %s = %s", args, r.Args)
		}
	}
}
