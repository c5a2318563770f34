package river_test

import (
	"context"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/conformance/dbtest"
)

// startCollector runs jobs until the end of the test, and returns a channel of the
// started attempts.
func startCollector(
	t *testing.T, ctx context.Context, engine driver.Engine, poll time.Duration,
) <-chan driver.Attempt {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	started, workErr := make(chan driver.Attempt, 100), make(chan error, 1)
	w := work(func(_ context.Context, a driver.Attempt) driver.Outcome {
		if started <- a; a.Number == 1 && a.MaxAttempts == 1 {
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		}
		return driver.Outcome{}
	}, quickKind)
	w.PollInterval = poll
	go func() { workErr <- engine.Work(ctx, w) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-workErr)
	})
	return started
}

// wantAttempt fails the test if no attempt starts within d, or an attempt at another job.
func wantAttempt(t *testing.T, started <-chan driver.Attempt, d time.Duration, id string) {
	t.Helper()
	select {
	case a := <-started:
		if a.ID != id {
			t.Fatalf("an attempt at job %s started, want %s", a.ID, id)
		}
	case <-time.After(d):
		t.Fatalf("no attempt started within %s", d)
	}
}

func TestEngine_Work(t *testing.T) {
	t.Parallel()

	t.Run("wakes workers of other processes", func(t *testing.T) {
		t.Parallel()
		_, c := testServer(t)
		c = newDatabase(t, c)
		worker, ctx := replica(t, c, river.WithSchema("jobs"))
		sender, senderCtx := replica(t, c, river.WithSchema("jobs"))
		// with this poll interval, only a notification can start the job in time
		started := startCollector(t, ctx, worker, time.Hour)
		for range 3 {
			jobs, ids := newJobs(quickKind, 1)
			jobs[0].MaxAttempts = 1
			must(t, sender.Insert(senderCtx, jobs))
			wantAttempt(t, started, 30*time.Second, ids[0])
			awaitState(t, senderCtx, sender, ids[0], driver.Dead)
			must(t, sender.Replay(senderCtx, ids[0]))
			wantAttempt(t, started, 30*time.Second, ids[0])
		}
	})

	t.Run("schedules long delays after the leader's crash", func(t *testing.T) {
		t.Parallel()
		_, c := testServer(t)
		c = newDatabase(t, c)
		network := dbtest.CutOff(t, c)
		first, firstCtx := replica(t, network.Config)
		second, ctx := replica(t, c)
		conn := admin(t, c)
		firstStarted := startCollector(t, firstCtx, first, time.Second)
		jobs, ids := newJobs(quickKind, 1)
		jobs[0].MaxAttempts = 1
		must(t, second.Insert(ctx, jobs))
		// The first worker may become the leader before it has started completely, and
		// would then fail without a network. Wait until it has run a job.
		wantAttempt(t, firstStarted, time.Minute, ids[0])
		awaitState(t, ctx, second, ids[0], driver.Dead)
		timeout := time.After(time.Minute)
		for queryValue[int](t, conn, "SELECT count(*) FROM river_leader") == 0 {
			select {
			case <-time.After(50 * time.Millisecond):
			case <-timeout:
				t.Fatal("no leader was elected")
			}
		}
		started := startCollector(t, ctx, second, time.Second)
		must(t, network.Stop())
		jobs, ids = newJobs(quickKind, 1)
		jobs[0].Delay = 6 * time.Second
		must(t, second.Insert(ctx, jobs))
		stored := time.Now()
		wantAttempt(t, started, 2*time.Minute, ids[0])
		late := time.Since(stored) - jobs[0].Delay
		t.Logf("the job was %s late", late.Round(100*time.Millisecond))
		must(t, network.Start())
	})
}

func TestEngine_Insert_WrappedArguments(t *testing.T) {
	t.Parallel()
	engine, ctx := newReplica(t)
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
			t.Errorf("arguments = %[2]s, want %[1]s", args, r.Args)
		}
	}
}
