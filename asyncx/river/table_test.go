package river_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	riverqueue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	dbdriver "github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// riverClient returns a client of River, like the web interface uses.
func riverClient(t *testing.T, c dbdriver.Config, schema string) *riverqueue.Client[pgx.Tx] {
	t.Helper()
	dsn, err := postgres.Driver{}.DSN(c)
	must(t, err)
	pool, err := pgxpool.New(t.Context(), dsn)
	must(t, err)
	t.Cleanup(pool.Close)
	client, err := riverqueue.NewClient(riverpgxv5.New(pool), &riverqueue.Config{Schema: schema})
	must(t, err)
	return client
}

// running runs a job with the outcomes. It returns a channel of its attempts, and a
// function that stops the worker.
func running(t *testing.T, engine driver.Engine, ctx context.Context, //nolint:revive // context-as-argument: the engine's
	run func(ctx context.Context, a driver.Attempt) driver.Outcome,
) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- engine.Work(ctx, work(run, quickKind)) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
}

// await waits until a job is in the state.
func await(t *testing.T, engine driver.Engine, ctx context.Context, id string, //nolint:revive // context-as-argument: the engine's
	state driver.State,
) driver.Record {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		r, err := engine.Get(ctx, id)
		must(t, err)
		if r.State == state {
			return r
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			t.Fatalf("the job is %s, want %s", r.State, state)
		}
	}
}

func TestEngine_RiverTools(t *testing.T) {
	t.Parallel()

	t.Run("shows jobs in River's client", func(t *testing.T) {
		t.Parallel()
		_, c := find(t)
		c = newDatabase(t, c)
		engine, ctx := replica(t, c, river.WithSchema("jobs"))
		jobs, _ := newJobs(quickKind, 1)
		jobs[0].Args, jobs[0].MaxAttempts = []byte(`{"user_id": 7}`), 2
		must(t, engine.Insert(ctx, jobs))
		client := riverClient(t, c, "jobs")
		list, err := client.JobList(ctx,
			riverqueue.NewJobListParams().Kinds(quickKind).Queues(river.Queue))
		must(t, err)
		if len(list.Jobs) != 1 {
			t.Fatalf("River lists %d jobs, want 1", len(list.Jobs))
		}
		row := list.Jobs[0]
		if string(row.EncodedArgs) != `{"user_id": 7}` || row.MaxAttempts != 2 ||
			!strings.Contains(string(row.Metadata), jobs[0].ID) {
			t.Errorf("River shows arguments %s, %d attempts, metadata %s",
				row.EncodedArgs, row.MaxAttempts, row.Metadata)
		}

		numbers := make(chan int, 10)
		running(t, engine, ctx, func(_ context.Context, a driver.Attempt) driver.Outcome {
			numbers <- a.Number
			if a.Number < a.MaxAttempts {
				return driver.Outcome{Action: driver.Retry, Error: "no"}
			}
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		})
		await(t, engine, ctx, jobs[0].ID, driver.Dead)
		_, err = client.JobRetry(ctx, row.ID)
		must(t, err)
		for want := range 3 {
			if got := <-numbers; got != want+1 {
				t.Errorf("attempt %d, want %d", got, want+1)
			}
		}
		if r := await(t, engine, ctx, jobs[0].ID, driver.Dead); r.MaxAttempts != 3 {
			t.Errorf("after River's retry of a dead job: %d attempts, want 3",
				r.MaxAttempts)
		}
	})

	t.Run("makes a cancelled job dead", func(t *testing.T) {
		t.Parallel()
		_, c := find(t)
		c = newDatabase(t, c)
		engine, ctx := replica(t, c)
		jobs, _ := newJobs(quickKind, 1)
		must(t, engine.Insert(ctx, jobs))
		started, causes := make(chan int, 10), make(chan error, 10)
		running(t, engine, ctx, func(ctx context.Context, a driver.Attempt) driver.Outcome {
			if started <- a.Number; len(causes) > 0 {
				return driver.Outcome{}
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return driver.Outcome{Action: driver.Retry, Error: "it has ended"}
		})
		<-started
		client := riverClient(t, c, "")
		list, err := client.JobList(ctx,
			riverqueue.NewJobListParams().States(rivertype.JobStateRunning))
		must(t, err)
		_, err = client.JobCancel(ctx, list.Jobs[0].ID)
		must(t, err)
		await(t, engine, ctx, jobs[0].ID, driver.Dead)
		if len(causes) != 1 || !errors.Is(<-causes, river.ErrTaken) {
			t.Errorf("the context of the attempt was not canceled with %v", river.ErrTaken)
		}
		causes <- nil
		must(t, engine.Replay(ctx, jobs[0].ID))
		if n := <-started; n != 1 {
			t.Errorf("attempt %d after the replay, want 1", n)
		}
		await(t, engine, ctx, jobs[0].ID, driver.Done)
	})
}

func TestEngine_Get(t *testing.T) {
	t.Parallel()
	_, c := find(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c)
	jobs, ids := newJobs(quickKind, 3000)
	must(t, engine.Insert(ctx, jobs))
	conn := admin(t, c)
	do(t, conn, "ANALYZE river_job")
	query := strings.Replace(river.LookUp(engine), "?", "'"+strings.ReplaceAll(ids[0], "-", "")+"'",
		1)
	if plan := ask[string](t, conn, "EXPLAIN (FORMAT JSON) "+query); !strings.Contains(plan,
		"river_job_unique_idx") {
		t.Errorf("plan of the lookup = %s", plan)
	}
}

func TestEngine_Connections(t *testing.T) {
	t.Parallel()
	_, c := find(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c)
	conn := admin(t, c)
	connections := func() int {
		return ask[int](t, conn,
			"SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	before := connections()
	jobs, ids := newJobs(quickKind, 1000)
	must(t, engine.Insert(ctx, jobs))
	most := 0
	left := map[string]int{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		left = finish(t, engine, ctx, ids)
	}()
	for over := false; !over; {
		most = max(most, connections())
		select {
		case <-done:
			over = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	if more := most - before; more < 1 || more > 8 {
		t.Errorf("the worker opened %d connections for %d jobs, want 1 to 8", more, len(left))
	}
	t.Logf("%d connections before, at most %d while working", before, most)
	late := time.After(5 * time.Second)
	for connections() > before {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			t.Fatalf("%d connections after shutdown, want %d", connections(), before)
		}
	}
}

func TestEngine_LongDelay(t *testing.T) {
	t.Parallel()
	engine, ctx := fresh(t)
	jobs, _ := newJobs(quickKind, 1)
	jobs[0].Delay = 5500 * time.Millisecond
	must(t, engine.Insert(ctx, jobs))
	stored := time.Now()
	ran := make(chan time.Time, 1)
	running(t, engine, ctx, func(context.Context, driver.Attempt) driver.Outcome {
		ran <- time.Now()
		return driver.Outcome{}
	})
	if late := (<-ran).Sub(stored) - jobs[0].Delay; late < -100*time.Millisecond ||
		late > 6*time.Second {
		t.Errorf("the job was %s late", late)
	}
}

func TestWithRetention(t *testing.T) {
	t.Parallel()
	engine, ctx := fresh(t, river.WithRetention(time.Second))
	jobs, _ := newJobs(quickKind, 2)
	must(t, engine.Insert(ctx, jobs))
	running(t, engine, ctx, func(_ context.Context, a driver.Attempt) driver.Outcome {
		if a.ID == jobs[1].ID {
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		}
		return driver.Outcome{}
	})
	late := time.After(time.Minute)
	for {
		_, err := engine.Get(ctx, jobs[0].ID)
		if errors.Is(err, driver.ErrNotFound) {
			break
		}
		must(t, err)
		select {
		case <-time.After(200 * time.Millisecond):
		case <-late:
			t.Fatal("the job still exists")
		}
	}
	await(t, engine, ctx, jobs[1].ID, driver.Dead)
}
