package asynq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	hibiken "github.com/hibiken/asynq"
	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// TestEngine_DeadJobs checks that the limits of asynq, 9999 dead jobs and 90 days, do not
// apply.
func TestEngine_DeadJobs(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, client := p.open(t)
	queue := p.queue + ":" + testKind + ":3"
	archived := "asynq:{" + queue + "}:archived"
	const many = 10_500
	old := time.Now().AddDate(0, 0, -400)
	for first := 0; first < many; first += 500 {
		_, err := client.Pipelined(ctx, func(pipe goredis.Pipeliner) error {
			for i := first; i < first+500; i++ {
				id := fmt.Sprintf("0-%d", i)
				pipe.ZAdd(ctx, archived,
					goredis.Z{Score: float64(old.Unix() + int64(i)), Member: id})
				pipe.HSet(ctx, "asynq:{"+queue+"}:t:"+id, "state", "archived", "msg", "")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	work(t, ctx, e, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run: func(context.Context, driver.Attempt) driver.Outcome {
			return driver.Outcome{Action: driver.Discard, Error: "no good"}
		},
	})
	eventually(t, "the job is dead", func() bool {
		r, err := e.Get(ctx, j.ID)
		return err == nil && r.State == driver.Dead
	})
	if n := client.ZCard(ctx, archived).Val(); n != many+1 {
		t.Errorf("%d dead jobs remain, want %d", n, many+1)
	}
	if client.Exists(ctx, "asynq:{"+queue+"}:t:0-0").Val() != 1 {
		t.Error("the oldest dead job was deleted")
	}
	info, err := hibiken.NewInspectorFromRedisClient(client).GetTaskInfo(queue, j.ID)
	if err != nil || info.State != hibiken.TaskStateArchived || info.LastErr != "no good" {
		t.Errorf("GetTaskInfo = %+v, %v; want an archived task with its error", info, err)
	}
}

func TestWithRetention(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t, asynq.WithRetention(time.Hour))
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	w, started := collect(testKind)
	stop := work(t, ctx, e, w)
	next(t, started)
	stop()
	r, err := e.Get(ctx, j.ID)
	if err != nil || r.State != driver.Done || r.Attempt != 1 {
		t.Errorf("Get = %s with attempt %d, %v; want done with 1", r.State, r.Attempt, err)
	}
	if records, err := e.List(ctx, driver.Query{State: driver.Done, Limit: 10}); err != nil ||
		len(records) != 1 {
		t.Errorf("List = %d records, %v; want 1", len(records), err)
	}
	if err := e.Delete(ctx, j.ID); !errors.Is(err, driver.ErrState) {
		t.Errorf("Delete = %v, want %v", err, driver.ErrState)
	}
	if err := e.Replay(ctx, j.ID); !errors.Is(err, driver.ErrState) {
		t.Errorf("Replay = %v, want %v", err, driver.ErrState)
	}
}

func TestEngine_Work_Release(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t)
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	outcomes := make(chan driver.Outcome, 2)
	outcomes <- driver.Outcome{Action: driver.Retry, Error: "try later"}
	outcomes <- driver.Outcome{Action: driver.Release, Wait: time.Hour, Error: "not yet"}
	stop := work(t, ctx, e, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run:     func(context.Context, driver.Attempt) driver.Outcome { return <-outcomes },
	})
	eventually(t, "both attempts have finished", func() bool {
		r, err := e.Get(ctx, j.ID)
		return err == nil && time.Until(r.RunAt) > time.Minute
	})
	stop()
	if r, err := e.Get(ctx, j.ID); err != nil || r.Attempt != 1 || r.Error != "try later" {
		t.Errorf("attempt, error = %d, %q (%v); want 1, try later", r.Attempt, r.Error, err)
	}
}

func TestEngine_Replay(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t)
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	created, err := e.Get(ctx, j.ID)
	if err != nil {
		t.Fatal(err)
	}
	stop := work(t, ctx, e, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run: func(context.Context, driver.Attempt) driver.Outcome {
			return driver.Outcome{Action: driver.Discard, Error: "no good"}
		},
	})
	eventually(t, "the job is dead", func() bool {
		r, err := e.Get(ctx, j.ID)
		return err == nil && r.State == driver.Dead
	})
	stop()
	if err := e.Replay(ctx, j.ID); err != nil {
		t.Fatal(err)
	}
	r, err := e.Get(ctx, j.ID)
	if err != nil || r.State != driver.Waiting || r.Error != "" ||
		!r.CreatedAt.Equal(created.CreatedAt) {
		t.Errorf("state, error, CreatedAt = %s, %q, %s (%v); want waiting, no error, %s",
			r.State, r.Error, r.CreatedAt, err, created.CreatedAt)
	}
}

func TestEngine_Work_CanceledByTools(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, client := p.open(t)
	j := newJobs(1)[0]
	if err := e.Insert(ctx, []driver.Job{j}); err != nil {
		t.Fatal(err)
	}
	causes, numbers := make(chan error, 1), make(chan int, 10)
	work(t, ctx, e, driver.Work{
		Kinds: []string{testKind}, Concurrency: 1, PollInterval: 50 * time.Millisecond,
		OnError: logErrors(t),
		Run: func(ctx context.Context, a driver.Attempt) driver.Outcome {
			numbers <- a.Number
			if a.Number == 1 {
				<-ctx.Done()
				causes <- context.Cause(ctx)
			}
			return driver.Outcome{}
		},
	})
	<-numbers
	eventually(t, "the attempt is canceled", func() bool { // the worker may not be subscribed yet
		if err := hibiken.NewInspectorFromRedisClient(client).CancelProcessing(j.ID); err != nil {
			t.Fatal(err)
		}
		return len(causes) > 0
	})
	if cause := <-causes; !errors.Is(cause, asynq.ErrLeaseLost) {
		t.Errorf("cause = %v, want %v", cause, asynq.ErrLeaseLost)
	}
	if n := <-numbers; n != 2 {
		t.Errorf("the next attempt has number %d, want 2", n)
	}
}
