package asynq_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	hibiken "github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job/driver"
)

func TestEngine_Work_Order(t *testing.T) {
	t.Parallel()

	// asynq alone would run all jobs of one kind before those of another.
	t.Run("runs jobs of one priority in the order of their creation", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, e, _ := p.open(t)
		kinds := []string{"kind.a", "kind.b", "kind.c"}
		var want, got []string
		for i := range 30 {
			j := newJobs(1, ofKind(kinds[i%3]))
			want = append(want, j[0].ID)
			if err := e.Insert(ctx, j); err != nil {
				t.Fatal(err)
			}
		}
		w, started := collect(kinds...)
		work(t, ctx, e, w)
		for range want {
			got = append(got, next(t, started).ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the jobs ran in the order\n%v, want\n%v", got, want)
		}
	})

	t.Run("skips paused queues", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, e, client := p.open(t)
		paused, other := newJobs(1, ofKind("kind.a")), newJobs(20, ofKind("kind.b"))
		if err := e.Insert(ctx, slices.Concat(paused, other)); err != nil {
			t.Fatal(err)
		}
		inspector := hibiken.NewInspectorFromRedisClient(client)
		if err := inspector.PauseQueue(p.queue + ":kind.a:3"); err != nil {
			t.Fatal(err)
		}
		w, started := collect("kind.a", "kind.b")
		w.PollInterval = time.Second
		work(t, ctx, e, w)
		start := time.Now()
		for range other {
			if a := next(t, started); a.Kind != "kind.b" {
				t.Errorf("an attempt of kind %s started although its queue is paused", a.Kind)
			}
		}
		if elapsed := time.Since(start); elapsed > 15*time.Second {
			t.Errorf("the other jobs took %s", elapsed)
		}
		if err := inspector.UnpauseQueue(p.queue + ":kind.a:3"); err != nil {
			t.Fatal(err)
		}
		next(t, started)
	})
}

func TestEngine_Work_Poll(t *testing.T) {
	t.Parallel()

	t.Run("runs a job of this process before the next poll", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, e, _ := p.open(t)
		w, started := collect(testKind)
		w.PollInterval = time.Hour
		stop := work(t, ctx, e, w)
		wantIdle(t, started, "before the insert")
		if err := e.Insert(ctx, newJobs(1)); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		next(t, started)
		if elapsed := time.Since(start); elapsed > 20*time.Second {
			t.Errorf("the job started after %s", elapsed)
		}
		late := newJobs(1, func(j *driver.Job) { j.Delay = time.Second })
		if err := e.Insert(ctx, late); err != nil {
			t.Fatal(err)
		}
		next(t, started) // asynq moves due jobs at least every 5 s
		start = time.Now()
		stop()
		if elapsed := time.Since(start); elapsed > 5*time.Second {
			t.Errorf("shutdown took %s", elapsed)
		}
	})

	// asynq alone would send 160 commands per round for twenty kinds and four
	// priorities.
	t.Run("checks all kinds with one round trip", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, client := p.app(t)
		c := &tripCounter{}
		client.AddHook(c)
		e, err := asynq.Open(asynq.WithQueue(p.queue))(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for i := range 20 {
			kinds = append(kinds, "kind."+string(rune('a'+i)))
		}
		w, _ := collect(kinds...)
		w.PollInterval = 500 * time.Millisecond
		work(t, ctx, e, w)
		least := int64(math.MaxInt64)
		for range 4 { // the worker also checks for crashed workers, once a minute
			before := c.n.Load()
			sleep(3 * time.Second)
			least = min(least, c.n.Load()-before)
		}
		if least > 25 {
			t.Errorf("an idle worker sent %d batches in 3 s, want about 2 per 500 ms", least)
		}
	})
}

// tripCounter counts round trips.
type tripCounter struct {
	disconnector

	n atomic.Int64
}

// ProcessHook implements redis.Hook.
func (c *tripCounter) ProcessHook(next goredis.ProcessHook) goredis.ProcessHook {
	next = c.disconnector.ProcessHook(next)
	return func(ctx context.Context, cmd goredis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements redis.Hook.
func (c *tripCounter) ProcessPipelineHook(
	next goredis.ProcessPipelineHook,
) goredis.ProcessPipelineHook {
	next = c.disconnector.ProcessPipelineHook(next)
	return func(ctx context.Context, cmds []goredis.Cmder) error {
		c.n.Add(1)
		return next(ctx, cmds)
	}
}

func TestEngine_Work_Outage(t *testing.T) {
	t.Parallel()

	// asynq alone would retry immediately.
	t.Run("waits for the poll interval", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, client := p.app(t)
		c := &tripCounter{}
		client.AddHook(c)
		e, err := asynq.Open(asynq.WithQueue(p.queue))(ctx)
		if err != nil {
			t.Fatal(err)
		}
		w, started := collect(testKind)
		w.PollInterval = 500 * time.Millisecond
		work(t, ctx, e, w)
		if err := e.Insert(ctx, newJobs(1)); err != nil {
			t.Fatal(err)
		}
		next(t, started)
		c.down.Store(true)
		before := c.n.Load()
		sleep(3 * time.Second)
		if n := c.n.Load() - before; n > 40 {
			t.Errorf("a worker sent %d batches in 3 s of an outage, want about 2 per 500 ms", n)
		}
		c.down.Store(false)
		eventually(t, "jobs can be stored", func() bool { return e.Insert(ctx, newJobs(1)) == nil })
		next(t, started)
	})

	// asynq alone would retry with a canceled context, and the job would run again.
	t.Run("does not repeat a job that returns during a short outage", func(t *testing.T) {
		t.Parallel()
		p := onRedis(t)
		ctx, client := p.app(t)
		c := &disconnector{}
		client.AddHook(c)
		e, err := asynq.Open(asynq.WithQueue(p.queue))(ctx)
		if err != nil {
			t.Fatal(err)
		}
		all := newJobs(3)
		if err := e.Insert(ctx, all); err != nil {
			t.Fatal(err)
		}
		outcomes := []driver.Outcome{
			{},
			{Action: driver.Retry, Wait: time.Hour, Error: "try later"},
			{Action: driver.Discard, Error: "no good"},
		}
		want := []driver.State{driver.Done, driver.Waiting, driver.Dead}
		started, end := make(chan int, 10), make(chan struct{})
		work(t, ctx, e, driver.Work{
			Kinds: []string{testKind}, Concurrency: 3, PollInterval: 100 * time.Millisecond,
			OnError: func(context.Context, string, error) {},
			Run: func(_ context.Context, a driver.Attempt) driver.Outcome {
				started <- a.Number
				<-end
				return outcomes[slices.IndexFunc(all,
					func(j driver.Job) bool { return j.ID == a.ID })]
			},
		})
		for range all {
			<-started
		}
		c.down.Store(true)
		close(end)
		sleep(2 * time.Second)
		c.down.Store(false)
		for i, j := range all {
			eventually(t, "the job is "+string(want[i]), func() bool {
				r, err := e.Get(ctx, j.ID)
				return err == nil && r.State == want[i] || errors.Is(err, driver.ErrNotFound) &&
					want[i] == driver.Done
			})
		}
		if len(started) > 0 {
			t.Errorf("%d more attempts started", len(started))
		}
	})
}
