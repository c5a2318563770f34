package asynq

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// maxChangeTries is the maximum number of tries of a change under contention.
const maxChangeTries = 20

var errBusy = errors.New("the job is changed concurrently")

// noDeadline is the deadline of all attempts, in the far future. asynq requires a
// deadline, but package job limits attempts.
var noDeadline = time.Date(2200, time.January, 1, 0, 0, 0, 0, time.UTC)

// batch contains the jobs of an Insert that share a Redis transaction.
type batch struct {
	refs    []taskRef
	queues  []any    // queue names
	tasks   []string // task keys
	scripts []script
}

// Insert implements driver.Engine. It uses one Redis transaction. In a cluster it uses
// one transaction per kind and priority, because their keys are on different servers.
func (e *engine) Insert(ctx context.Context, jobs []driver.Job) error {
	if err := e.open(ctx); err != nil || len(jobs) == 0 {
		return err
	}
	batches, err := e.batches(jobs)
	if err != nil {
		return err
	}
	for i, b := range batches {
		if err := e.insert(ctx, b); err != nil {
			for _, stored := range batches[:i] {
				e.rollback(ctx, stored)
			}
			return wrapError(ctx, "insert", err)
		}
	}
	e.workers.Wake()
	return nil
}

// batches encodes the jobs with asynq.
func (e *engine) batches(jobs []driver.Job) ([]*batch, error) {
	_, singleServer := e.client.(*redis.Client) // one server has all keys
	var all []*batch
	byGroup := map[string]*batch{}
	seen := map[string]bool{}
	now := time.Now()
	for i := range jobs {
		j := &jobs[i]
		if seen[j.ID] {
			return nil, fmt.Errorf("asynq: insert: duplicate ID %.40q", j.ID)
		}
		seen[j.ID] = true
		queue := e.names.queue(j.Kind, j.Priority)
		s, err := e.enqueueScript(j.ID, queue, j.Kind, j.Args, headersOf(j, now), due(now, j.Delay))
		if err != nil {
			return nil, err
		}
		group := queue
		if singleServer {
			group = ""
		}
		b := byGroup[group]
		if b == nil {
			b = &batch{}
			byGroup[group], all = b, append(all, b)
		}
		b.refs, b.scripts = append(b.refs, taskRef{j.ID, queue}), append(b.scripts, s)
		b.tasks = append(b.tasks, taskKey(queue, j.ID))
		if !slices.Contains(b.queues, any(queue)) {
			b.queues = append(b.queues, queue)
		}
	}
	return all, nil
}

// due returns the start time of a job, or the zero time for immediately. asynq truncates
// times to seconds, so due rounds up.
func due(now time.Time, delay time.Duration) time.Time {
	if delay <= 0 {
		return time.Time{}
	}
	return now.Add(delay + time.Second - 1).Truncate(time.Second)
}

// enqueueScript returns asynq's script that stores a task.
func (e *engine) enqueueScript(
	id, queue, kind string, args []byte, headers map[string]string, at time.Time,
) (script, error) {
	options := []asynq.Option{
		asynq.TaskID(id), asynq.Queue(queue), asynq.MaxRetry(math.MaxInt32),
		asynq.Deadline(noDeadline), asynq.Retention(e.retention),
	}
	if !at.IsZero() {
		options = append(options, asynq.ProcessAt(at))
	}
	r := &recorder{}
	task := asynq.NewTaskWithHeaders(kind, args, headers)
	if _, err := asynq.NewClientFromRedisClient(r).Enqueue(task, options...); err != nil {
		return script{}, fmt.Errorf("asynq: encode the job %.40q: %w", id, err)
	}
	if len(r.scripts) != 1 {
		return script{}, errUnknown
	}
	return r.scripts[0], nil
}

// insert stores a batch. It fails if one of the jobs exists.
func (e *engine) insert(ctx context.Context, b *batch) error {
	_, singleServer := e.client.(*redis.Client)
	if !singleServer { // the set and the queue are on different servers
		if err := e.client.SAdd(ctx, allQueues, b.queues...).Err(); err != nil {
			return err
		}
	}
	return e.watch(ctx, func(tx *redis.Tx) error {
		existing, err := tx.Exists(ctx, b.tasks...).Result()
		if err != nil {
			return err
		}
		if existing > 0 {
			return fmt.Errorf("%d of the IDs exist already", existing)
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			if singleServer {
				p.SAdd(ctx, allQueues, b.queues...)
			}
			send(ctx, p, b.scripts)
			return nil
		})
		return err
	}, b.tasks...)
}

func send(ctx context.Context, p redis.Pipeliner, scripts []script) {
	for _, s := range scripts {
		p.Eval(ctx, s.source, s.keys, s.args...)
	}
}

// rollback deletes the jobs of a failed Insert that other servers of the cluster have
// stored. A worker may have started them already.
func (e *engine) rollback(ctx context.Context, b *batch) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, p := range b.refs {
		_ = inspector(ctx, e.client).DeleteTask(p.queue, p.id) // the caller returns the first error
	}
}

// watch retries fn while other clients change the keys.
func (e *engine) watch(ctx context.Context, fn func(tx *redis.Tx) error, keys ...string) error {
	for range maxChangeTries {
		if err := e.client.Watch(ctx, fn, keys...); !errors.Is(err, redis.TxFailedErr) {
			return err
		}
	}
	return errBusy
}

// Replay implements driver.Engine. It deletes the task and stores it again in one Redis
// transaction, because asynq's own operation does not reset the attempt count.
func (e *engine) Replay(ctx context.Context, id string) error {
	err := e.change(ctx, id, func(info *asynq.TaskInfo) ([]script, error) {
		if info.State != asynq.TaskStateArchived {
			return nil, driver.ErrState
		}
		remove, err := deleteScript(info)
		if err != nil {
			return nil, err
		}
		enqueue, err := e.enqueueScript(id, info.Queue, info.Type, info.Payload,
			replayHeaders(info.Headers, time.Now()), time.Time{})
		return []script{remove, enqueue}, err
	})
	if err == nil {
		e.workers.Wake()
	}
	return wrapError(ctx, "replay", err)
}

// Delete implements driver.Engine.
func (e *engine) Delete(ctx context.Context, id string) error {
	return wrapError(ctx, "delete", e.change(ctx, id, func(info *asynq.TaskInfo) ([]script, error) {
		if s := stateOf(info.State); s != driver.Waiting && s != driver.Dead {
			return nil, driver.ErrState
		}
		remove, err := deleteScript(info)
		return []script{remove}, err
	}))
}

// deleteScript returns asynq's script that deletes a task.
func deleteScript(info *asynq.TaskInfo) (script, error) {
	r := &recorder{}
	if err := asynq.NewInspectorFromRedisClient(r).DeleteTask(info.Queue, info.ID); err != nil {
		return script{}, err
	}
	if len(r.scripts) != 1 {
		return script{}, errUnknown
	}
	return r.scripts[0], nil
}

// change runs the scripts of fn, if the job has not changed since fn read it.
func (e *engine) change(
	ctx context.Context, id string, fn func(info *asynq.TaskInfo) ([]script, error),
) error {
	if err := e.open(ctx); err != nil {
		return err
	}
	queue, err := e.find(ctx, id)
	if err != nil {
		return err
	}
	return e.watch(ctx, func(tx *redis.Tx) error {
		// Use the connection of the transaction. A second connection per change would
		// deadlock when the pool is exhausted.
		info, err := taskInfo(ctx, tx, queue, id)
		if err != nil {
			return err
		}
		scripts, err := fn(info)
		if err != nil {
			return err
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			send(ctx, p, scripts)
			return nil
		})
		return err
	}, taskKey(queue, id))
}
