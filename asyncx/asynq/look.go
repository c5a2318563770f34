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

// look is the state of the dequeue loop. Only asynq's dequeue goroutine uses it.
type look struct {
	queues []candidate
	first  string // the key of asynq's first query in a round
}

// candidate is a queue of the worker.
type candidate struct {
	queue    string
	priority int
	oldest   string // the ID of the next job
}

// ordered returns all queues of the kinds.
func (n names) ordered(kinds []string) []candidate {
	var all []candidate
	for _, kind := range kinds {
		for p := driver.MinPriority; p <= driver.MaxPriority; p++ {
			all = append(all, candidate{queue: n.queue(kind, p), priority: p})
		}
	}
	return all
}

// takeParts are the keys of the dequeue script. Its arguments are the lease expiry and
// the key prefix of tasks.
var takeParts = []string{pendingPart, pausedPart, activePart, leasePart}

func isTake(keys []string, args []any) bool {
	if len(keys) != len(takeParts) || len(args) != 2 {
		return false
	}
	tasks, ok := args[1].(string)
	before, found := strings.CutSuffix(tasks, taskPart)
	for i, part := range takeParts {
		ok = ok && keys[i] == before+part
	}
	return ok && found
}

// take handles the dequeue scripts of a round: the first one covers all queues, the
// others return no job.
func (l *link) take(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	if l.look.first == "" {
		l.look.first = keys[0]
		close(l.looked)
	}
	if keys[0] != l.look.first {
		return nothing(ctx)
	}
	cmd := l.takeOldest(ctx, args[0], send)
	if err := cmd.Err(); err != nil && !isNoScript(err) {
		l.pause()
	}
	return cmd
}

// nothing returns the result of an empty queue.
func nothing(ctx context.Context) *redis.Cmd { return broken(ctx, redis.Nil) }

func broken(ctx context.Context, err error) *redis.Cmd {
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(err)
	return cmd
}

func isNoScript(err error) bool { return redis.HasErrorPrefix(err, "NOSCRIPT") }

// takeOldest dequeues the oldest job of the highest priority.
func (l *link) takeOldest(ctx context.Context, lease any, send eval) *redis.Cmd {
	if l.acceptCtx.Err() != nil {
		return nothing(ctx)
	}
	found, err := l.candidates(ctx)
	if err != nil {
		return broken(ctx, err)
	}
	for _, c := range found {
		if l.acceptCtx.Err() != nil {
			break
		}
		keys := make([]string, len(takeParts))
		for i, part := range takeParts {
			keys[i] = key(c.queue, part)
		}
		cmd := send(ctx, keys, []any{lease, key(c.queue, taskPart)})
		if !errors.Is(cmd.Err(), redis.Nil) {
			return cmd
		}
	}
	if len(found) > 0 { // other workers took the jobs; try again
		poke(l.wake)
	}
	return nothing(ctx)
}

// candidates returns the queues with a job, in execution order.
func (l *link) candidates(ctx context.Context) ([]candidate, error) {
	type answer struct {
		oldest *redis.StringCmd
		paused *redis.IntCmd
	}
	answers := make([]answer, len(l.look.queues))
	_, err := l.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, c := range l.look.queues {
			answers[i] = answer{
				p.LIndex(ctx, key(c.queue, pendingPart), -1),
				p.Exists(ctx, key(c.queue, pausedPart)),
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	var found []candidate
	for i, c := range l.look.queues {
		switch err := errors.Join(answers[i].oldest.Err(), answers[i].paused.Err()); {
		case errors.Is(err, redis.Nil):
		case err != nil:
			return nil, err
		case answers[i].paused.Val() == 0:
			c.oldest = answers[i].oldest.Val()
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(a.oldest, b.oldest))
	})
	return found, nil
}

// pause waits for about PollInterval, until a wake-up, or until shutdown.
func (l *link) pause() {
	timer := time.NewTimer(l.worker.PollInterval/2 + rand.N(l.worker.PollInterval))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.wake:
	case <-l.acceptCtx.Done():
	}
}

// forward is the state of the loop that moves due jobs. Only asynq's forwarder goroutine
// uses it.
type forward struct {
	first string
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

// forwarded moves the due jobs of a queue, if any.
func (l *link) forwarded(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	if l.forward.first == "" {
		l.forward.first = keys[0]
	}
	now, _ := args[0].(int64)
	if keys[0] == l.forward.first {
		if err := l.findDue(ctx, float64(now)); err != nil {
			return broken(ctx, err)
		}
	}
	if !l.forward.due[keys[0]] {
		cmd := redis.NewCmd(ctx)
		cmd.SetVal(int64(0))
		return cmd
	}
	cmd := send(ctx, keys, args)
	if n, ok := cmd.Val().(int64); ok && n > 0 {
		poke(l.wake)
	}
	return cmd
}

// findDue checks all queues with one pipeline.
func (l *link) findDue(ctx context.Context, now float64) error {
	answers := map[string]*redis.ZSliceCmd{}
	_, err := l.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, c := range l.look.queues {
			for _, part := range []string{scheduledPart, retryPart} {
				answers[key(c.queue, part)] = p.ZRangeWithScores(ctx, key(c.queue, part), 0, 0)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.forward.due = map[string]bool{}
	for name, cmd := range answers {
		if first := cmd.Val(); len(first) > 0 && first[0].Score <= now {
			l.forward.due[name] = true
		}
	}
	return nil
}
