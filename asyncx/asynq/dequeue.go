package asynq

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// dequeueState is the state of the dequeue loop. Only asynq's dequeue goroutine uses it.
type dequeueState struct {
	queues []candidate
	first  string // key of the first script in a round
}

// candidate is a queue of the worker.
type candidate struct {
	queue    string
	priority int
	oldest   string // ID of its oldest job
}

// candidates returns all queues of the kinds.
func (n names) candidates(kinds []string) []candidate {
	var all []candidate
	for _, kind := range kinds {
		for p := driver.MinPriority; p <= driver.MaxPriority; p++ {
			all = append(all, candidate{queue: n.queue(kind, p), priority: p})
		}
	}
	return all
}

// dequeueParts are the key suffixes of the dequeue script. Its arguments are the lease
// expiry and the key prefix of tasks.
var dequeueParts = []string{pendingPart, pausedPart, activePart, leasePart}

func isDequeue(keys []string, args []any) bool {
	if len(keys) != len(dequeueParts) || len(args) != 2 {
		return false
	}
	tasks, ok := args[1].(string)
	before, found := strings.CutSuffix(tasks, taskPart)
	for i, part := range dequeueParts {
		ok = ok && keys[i] == before+part
	}
	return ok && found
}

// dequeueRound handles the dequeue scripts of a round: the first one covers all queues,
// the others return no job.
func (c *client) dequeueRound(
	ctx context.Context, keys []string, args []any, send eval,
) *redis.Cmd {
	if c.dequeue.first == "" {
		c.dequeue.first = keys[0]
		close(c.firstDequeue)
	}
	if keys[0] != c.dequeue.first {
		return emptyResult(ctx)
	}
	cmd := c.dequeueOldest(ctx, args[0], send)
	if err := cmd.Err(); err != nil && !isNoScript(err) {
		c.pause()
	}
	return cmd
}

// emptyResult returns the result of the dequeue script for an empty queue.
func emptyResult(ctx context.Context) *redis.Cmd { return errorResult(ctx, redis.Nil) }

func errorResult(ctx context.Context, err error) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(err)
	return cmd
}

func isNoScript(err error) bool { return redis.HasErrorPrefix(err, "NOSCRIPT") }

// dequeueOldest dequeues the oldest job of the highest priority.
func (c *client) dequeueOldest(ctx context.Context, lease any, send eval) *redis.Cmd {
	if c.acceptCtx.Err() != nil {
		return emptyResult(ctx)
	}
	found, err := c.candidates(ctx)
	if err != nil {
		return errorResult(ctx, err)
	}
	for _, q := range found {
		if c.acceptCtx.Err() != nil {
			break
		}
		keys := make([]string, len(dequeueParts))
		for i, part := range dequeueParts {
			keys[i] = key(q.queue, part)
		}
		cmd := send(ctx, keys, []any{lease, key(q.queue, taskPart)})
		if !errors.Is(cmd.Err(), redis.Nil) {
			return cmd
		}
	}
	if len(found) > 0 { // other workers claimed the jobs; try again
		notify(c.wake)
	}
	return emptyResult(ctx)
}

// candidates returns the queues with a job, in execution order.
func (c *client) candidates(ctx context.Context) ([]candidate, error) {
	type reply struct {
		oldest *redis.StringCmd
		paused *redis.IntCmd
	}
	replies := make([]reply, len(c.dequeue.queues))
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range c.dequeue.queues {
			replies[i] = reply{
				p.LIndex(ctx, key(q.queue, pendingPart), -1),
				p.Exists(ctx, key(q.queue, pausedPart)),
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	var found []candidate
	for i, q := range c.dequeue.queues {
		switch err := errors.Join(replies[i].oldest.Err(), replies[i].paused.Err()); {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return nil, err
		case replies[i].paused.Val() == 0:
			q.oldest = replies[i].oldest.Val()
			found = append(found, q)
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.oldest, b.oldest))
	})
	return found, nil
}

// pause waits for about PollInterval, for a notification, or for shutdown.
func (c *client) pause() {
	timer := time.NewTimer(c.worker.PollInterval/2 + rand.N(c.worker.PollInterval))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.wake:
	case <-c.acceptCtx.Done():
	}
}

// forwardState is the state of the loop that moves due jobs. Only asynq's forwarder
// goroutine uses it.
type forwardState struct {
	first string          // key of the first script in a round
	due   map[string]bool // keys with due jobs
}

func isForward(keys []string, args []any) bool {
	if len(keys) != 2 || len(args) != 4 {
		return false
	}
	before, found := strings.CutSuffix(keys[1], pendingPart)
	_, now := args[0].(int64)
	return found && now && (keys[0] == before+scheduledPart || keys[0] == before+retryPart)
}

// forwardDue moves the due jobs of a queue, if any.
func (c *client) forwardDue(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	if c.forward.first == "" {
		c.forward.first = keys[0]
	}
	now, _ := args[0].(int64)
	if keys[0] == c.forward.first {
		if err := c.findDue(ctx, float64(now)); err != nil {
			return errorResult(ctx, err)
		}
	}
	if !c.forward.due[keys[0]] {
		cmd := redis.NewCmd(ctx)
		cmd.SetVal(int64(0))
		return cmd
	}
	cmd := send(ctx, keys, args)
	if n, ok := cmd.Val().(int64); ok && n > 0 {
		notify(c.wake)
	}
	return cmd
}

// findDue finds the keys with due jobs, with one pipeline for all queues.
func (c *client) findDue(ctx context.Context, now float64) error {
	replies := map[string]*redis.ZSliceCmd{}
	_, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, q := range c.dequeue.queues {
			for _, part := range []string{scheduledPart, retryPart} {
				replies[key(q.queue, part)] = p.ZRangeWithScores(ctx, key(q.queue, part), 0, 0)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.forward.due = map[string]bool{}
	for name, cmd := range replies {
		if first := cmd.Val(); len(first) > 0 && first[0].Score <= now {
			c.forward.due[name] = true
		}
	}
	return nil
}
