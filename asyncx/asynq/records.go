package asynq

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// scanCount is the page size of queries for IDs.
const scanCount = 1000

// Get implements driver.Engine.
func (e *engine) Get(ctx context.Context, id string) (driver.Record, error) {
	if err := e.open(ctx); err != nil {
		return driver.Record{}, err
	}
	queue, err := e.find(ctx, id)
	if err != nil {
		return driver.Record{}, wrapError(ctx, "get", err)
	}
	info, err := taskInfo(ctx, e.client, queue, id)
	if err != nil {
		return driver.Record{}, wrapError(ctx, "get", err)
	}
	return e.record(info), nil
}

// queues returns the names of this engine's queues for one kind, or for all kinds if kind
// is "".
func (e *engine) queues(ctx context.Context, kind string) ([]string, error) {
	all, err := e.client.SMembers(ctx, allQueues).Result()
	return slices.DeleteFunc(all, func(name string) bool {
		k, _, ok := e.names.parse(name)
		return !ok || kind != "" && k != kind
	}), err
}

// find returns the queue of a job. A job never moves to another queue.
func (e *engine) find(ctx context.Context, id string) (string, error) {
	queues, err := e.queues(ctx, "")
	if err != nil {
		return "", err
	}
	found := make([]*redis.IntCmd, len(queues))
	_, err = e.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, queue := range queues {
			found[i] = p.Exists(ctx, taskKey(queue, id))
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for i, cmd := range found {
		if cmd.Val() > 0 {
			return queues[i], nil
		}
	}
	return "", driver.ErrNotFound
}

func inspector(ctx context.Context, scripter redis.Scripter) *asynq.Inspector {
	return asynq.NewInspectorFromRedisClient(boundClient{scripter: scripter, ctx: ctx})
}

func taskInfo(
	ctx context.Context, scripter redis.Scripter, queue, id string,
) (*asynq.TaskInfo, error) {
	info, err := inspector(ctx, scripter).GetTaskInfo(queue, id)
	if errors.Is(err, asynq.ErrTaskNotFound) {
		return nil, driver.ErrNotFound
	}
	return info, err
}

func stateOf(s asynq.TaskState) driver.State {
	switch s {
	case asynq.TaskStateActive:
		return driver.Running
	case asynq.TaskStateArchived:
		return driver.Dead
	case asynq.TaskStateCompleted:
		return driver.Done
	default: // pending, scheduled, retry
		return driver.Waiting
	}
}

func (e *engine) record(info *asynq.TaskInfo) driver.Record {
	r := driver.Record{
		Job:   e.names.jobOf(info.ID, info.Queue, info.Type, info.Payload, info.Headers),
		State: stateOf(info.State), Attempt: info.Retried, Error: info.LastErr,
		CreatedAt: timeOf(info.Headers, headerCreated), RunAt: timeOf(info.Headers, headerRunAt),
	}
	if r.State != driver.Waiting {
		r.Attempt++ // asynq counts failed attempts only
	}
	for _, later := range []time.Time{info.LastFailedAt, info.CompletedAt} {
		if later.After(r.RunAt) {
			r.RunAt = later
		}
	}
	if info.State == asynq.TaskStateRetry {
		r.RunAt = info.NextProcessAt
	}
	return r
}

// List implements driver.Engine. It reads the IDs of all jobs in the state, but keeps
// only one page in memory. A job that changes its state during the call may be missing.
func (e *engine) List(ctx context.Context, q driver.Query) ([]driver.Record, error) {
	if err := e.open(ctx); err != nil {
		return nil, err
	}
	for {
		ids, err := e.page(ctx, q)
		if err != nil {
			return nil, wrapError(ctx, "list", err)
		}
		records, err := e.recordsOf(ctx, ids, q.State)
		if err != nil {
			return nil, wrapError(ctx, "list", err)
		}
		if len(records) > 0 || len(ids) < q.Limit {
			return records, nil
		}
		q.After = ids[len(ids)-1].id // the states of all these jobs have changed
	}
}

// taskRef identifies a job by its ID and queue.
type taskRef struct{ id, queue string }

// recordsOf returns the records of the jobs that are still in the state.
func (e *engine) recordsOf(
	ctx context.Context, refs []taskRef, state driver.State,
) ([]driver.Record, error) {
	var records []driver.Record
	for _, p := range refs {
		info, err := taskInfo(ctx, e.client, p.queue, p.id)
		if errors.Is(err, driver.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if stateOf(info.State) == state {
			records = append(records, e.record(info))
		}
	}
	return records, nil
}

// page returns the first IDs of a query.
func (e *engine) page(ctx context.Context, q driver.Query) ([]taskRef, error) {
	queues, err := e.queues(ctx, q.Kind)
	if err != nil {
		return nil, err
	}
	c := collector{after: q.After, limit: q.Limit}
	for _, queue := range queues {
		c.queue = queue
		if err := e.ids(ctx, &c, q.State); err != nil {
			return nil, err
		}
	}
	c.trim()
	return c.refs, nil
}

// ids adds the IDs of a queue to the collector. It reads pending last, because jobs move
// there from scheduled and retry.
func (e *engine) ids(ctx context.Context, c *collector, state driver.State) error {
	switch state {
	case driver.Dead:
		return e.members(ctx, c, archivedPart)
	case driver.Done:
		return e.members(ctx, c, completedPart)
	case driver.Running:
		return e.elements(ctx, c, activePart)
	default:
		return errors.Join(e.members(ctx, c, scheduledPart), e.members(ctx, c, retryPart),
			e.elements(ctx, c, pendingPart))
	}
}

// members reads a sorted set.
func (e *engine) members(ctx context.Context, c *collector, part string) error {
	for cursor := uint64(0); ; {
		found, next, err := e.client.ZScan(ctx, key(c.queue, part), cursor, "", scanCount).Result()
		if err != nil {
			return err
		}
		for i := 0; i < len(found); i += 2 { // members and scores alternate
			c.add(found[i])
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// elements reads a list. New elements are added at the front, so no element is skipped.
func (e *engine) elements(ctx context.Context, c *collector, part string) error {
	for start := int64(0); ; start += scanCount {
		found, err := e.client.LRange(ctx, key(c.queue, part), start, start+scanCount-1).Result()
		if err != nil {
			return err
		}
		for _, id := range found {
			c.add(id)
		}
		if len(found) < scanCount {
			return nil
		}
	}
}

// collector collects the smallest IDs.
type collector struct {
	after string
	limit int
	queue string
	refs  []taskRef
}

func (c *collector) add(id string) {
	if id <= c.after {
		return
	}
	if c.refs = append(c.refs, taskRef{id, c.queue}); len(c.refs) >= 2*c.limit+scanCount {
		c.trim()
	}
}

func (c *collector) trim() {
	slices.SortFunc(c.refs, func(a, b taskRef) int { return cmp.Compare(a.id, b.id) })
	c.refs = slices.Compact(c.refs)
	c.refs = c.refs[:min(len(c.refs), c.limit)]
}
