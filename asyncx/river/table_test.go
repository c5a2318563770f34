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

// riverClient returns a client of River, like that of River's web interface.
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

// startWorker runs jobs with run until the end of the test.
func startWorker(
	t *testing.T, ctx context.Context, engine driver.Engine,
	run func(ctx context.Context, a driver.Attempt) driver.Outcome,
) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	workErr := make(chan error, 1)
	go func() { workErr <- engine.Work(ctx, work(run, quickKind)) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-workErr)
	})
}

// awaitState waits until a job is in the state.
func awaitState(
	t *testing.T, ctx context.Context, engine driver.Engine, id string, state driver.State,
) driver.Record {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		r, err := engine.Get(ctx, id)
		must(t, err)
		if r.State == state {
			return r
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-timeout:
			t.Fatalf("the job is %s, want %s", r.State, state)
		}
	}
}

func TestEngine_RiverTools(t *testing.T) {
	t.Parallel()

	t.Run("shows jobs in River's client", func(t *testing.T) {
		t.Parallel()
		_, c := testServer(t)
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
			t.Errorf("arguments, maximum attempts, metadata in River = %s, %d, %s",
				row.EncodedArgs, row.MaxAttempts, row.Metadata)
		}

		numbers := make(chan int, 10)
		startWorker(t, ctx, engine, func(_ context.Context, a driver.Attempt) driver.Outcome {
			numbers <- a.Number
			if a.Number < a.MaxAttempts {
				return driver.Outcome{Action: driver.Retry, Error: "no"}
			}
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		})
		awaitState(t, ctx, engine, jobs[0].ID, driver.Dead)
		_, err = client.JobRetry(ctx, row.ID)
		must(t, err)
		for want := range 3 {
			if got := <-numbers; got != want+1 {
				t.Errorf("attempt %d, want %d", got, want+1)
			}
		}
		if r := awaitState(t, ctx, engine, jobs[0].ID, driver.Dead); r.MaxAttempts != 3 {
			t.Errorf("MaxAttempts = %d after River's retry of a dead job, want 3",
				r.MaxAttempts)
		}
	})

	t.Run("makes a canceled job dead", func(t *testing.T) {
		t.Parallel()
		_, c := testServer(t)
		c = newDatabase(t, c)
		engine, ctx := replica(t, c)
		jobs, _ := newJobs(quickKind, 1)
		must(t, engine.Insert(ctx, jobs))
		started, causes := make(chan int, 10), make(chan error, 10)
		startWorker(t, ctx, engine, func(ctx context.Context, a driver.Attempt) driver.Outcome {
			if started <- a.Number; len(causes) > 0 {
				return driver.Outcome{}
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return driver.Outcome{Action: driver.Retry, Error: "canceled"}
		})
		<-started
		client := riverClient(t, c, "")
		list, err := client.JobList(ctx,
			riverqueue.NewJobListParams().States(rivertype.JobStateRunning))
		must(t, err)
		_, err = client.JobCancel(ctx, list.Jobs[0].ID)
		must(t, err)
		awaitState(t, ctx, engine, jobs[0].ID, driver.Dead)
		if len(causes) != 1 || !errors.Is(<-causes, river.ErrLeaseLost) {
			t.Errorf("the context of the attempt was not canceled with %v", river.ErrLeaseLost)
		}
		causes <- nil
		must(t, engine.Replay(ctx, jobs[0].ID))
		if n := <-started; n != 1 {
			t.Errorf("attempt %d after the replay, want 1", n)
		}
		awaitState(t, ctx, engine, jobs[0].ID, driver.Done)
	})
}

func TestEngine_Get(t *testing.T) {
	t.Parallel()
	_, c := testServer(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c)
	jobs, ids := newJobs(quickKind, 3000)
	must(t, engine.Insert(ctx, jobs))
	conn := admin(t, c)
	execSQL(t, conn, "ANALYZE river_job")
	key := "'" + strings.ReplaceAll(ids[0], "-", "") + "'"
	query := strings.Replace(river.LookUp(engine), "?", key, 1)
	plan := queryValue[string](t, conn, "EXPLAIN (FORMAT JSON) "+query)
	if !strings.Contains(plan, "river_job_unique_idx") {
		t.Errorf("the plan of the lookup does not use river_job_unique_idx: %s", plan)
	}
}

func TestEngine_Connections(t *testing.T) {
	t.Parallel()
	_, c := testServer(t)
	c = newDatabase(t, c)
	engine, ctx := replica(t, c)
	conn := admin(t, c)
	connections := func() int {
		return queryValue[int](t, conn,
			"SELECT count(*) FROM pg_stat_activity "+
				"WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	before := connections()
	jobs, ids := newJobs(quickKind, 1000)
	must(t, engine.Insert(ctx, jobs))
	peak := 0
	numbers := map[string]int{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		numbers = finish(t, ctx, engine, ids)
	}()
	for finished := false; !finished; {
		peak = max(peak, connections())
		select {
		case <-done:
			finished = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	if more := peak - before; more < 1 || more > 8 {
		t.Errorf("the worker opened %d connections for %d jobs, want 1 to 8", more, len(numbers))
	}
	t.Logf("%d connections before, at most %d while the worker ran", before, peak)
	timeout := time.After(5 * time.Second)
	for connections() > before {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-timeout:
			t.Fatalf("%d connections after shutdown, want %d", connections(), before)
		}
	}
}

func TestEngine_LongDelay(t *testing.T) {
	t.Parallel()
	engine, ctx := newReplica(t)
	jobs, _ := newJobs(quickKind, 1)
	jobs[0].Delay = 5500 * time.Millisecond
	must(t, engine.Insert(ctx, jobs))
	stored := time.Now()
	ran := make(chan time.Time, 1)
	startWorker(t, ctx, engine, func(context.Context, driver.Attempt) driver.Outcome {
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
	engine, ctx := newReplica(t, river.WithRetention(time.Second))
	jobs, _ := newJobs(quickKind, 2)
	must(t, engine.Insert(ctx, jobs))
	startWorker(t, ctx, engine, func(_ context.Context, a driver.Attempt) driver.Outcome {
		if a.ID == jobs[1].ID {
			return driver.Outcome{Action: driver.Discard, Error: "no"}
		}
		return driver.Outcome{}
	})
	timeout := time.After(time.Minute)
	for {
		_, err := engine.Get(ctx, jobs[0].ID)
		if errors.Is(err, driver.ErrNotFound) {
			break
		}
		must(t, err)
		select {
		case <-time.After(200 * time.Millisecond):
		case <-timeout:
			t.Fatal("the job still exists")
		}
	}
	awaitState(t, ctx, engine, jobs[1].ID, driver.Dead)
}
