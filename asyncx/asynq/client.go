package asynq

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// client is the Redis client of asynq's server. It recognizes three of asynq's scripts by
// their keys and arguments, and changes them:
//
//   - dequeue: asynq tries its queues one after the other, always in the same order for
//     kinds of one priority. The client checks all queues with one pipeline, and dequeues
//     the oldest job of the highest priority.
//   - forward: the client skips queues without due jobs.
//   - archive: asynq deletes dead jobs after 90 days, and above 10000. The client
//     disables both limits.
//
// asynq sends commands without a context. The client cancels them when Work returns.
type client struct {
	redis.UniversalClient

	commandCtx      context.Context // context of the commands
	acceptCtx       context.Context // canceled when no more jobs may start
	worker          *worker
	wake            chan struct{} // receives when jobs may be available
	firstDequeue    chan struct{} // closed at the first dequeue
	dequeue         dequeueState
	forward         forwardState
	archiveReported atomic.Bool // an unknown archive script was reported
}

// newClient returns a client and a function that cancels its commands.
func newClient(acceptCtx context.Context, w *worker) (c *client, cancel func()) {
	commandCtx, cancel := context.WithCancel(context.WithoutCancel(acceptCtx))
	c = &client{
		UniversalClient: w.engine.client, commandCtx: commandCtx, acceptCtx: acceptCtx, worker: w,
		firstDequeue: make(chan struct{}),
	}
	c.dequeue.queues = w.engine.names.candidates(w.Kinds)
	return c, cancel
}

// awaitDequeue returns errUnknown if asynq does not dequeue with the known script.
func (c *client) awaitDequeue(ctx context.Context) error {
	timeout := time.NewTimer(dequeueTimeout)
	defer timeout.Stop()
	select {
	case <-c.firstDequeue:
		return nil
	case <-ctx.Done():
		return nil
	case <-timeout.C:
		return errUnknown
	}
}

// withCommands returns a context that is canceled with ctx and with commandCtx.
func (c *client) withCommands(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Done() == nil {
		return c.commandCtx, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok && errors.Is(ctx.Err(), context.Canceled) {
		// asynq retries a completion within the lease, but with the canceled context of
		// the first try.
		return context.WithDeadline(c.commandCtx, deadline)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.commandCtx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// EvalSha implements redis.Scripter.
func (c *client) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return c.run(ctx, keys, args, func(ctx context.Context, keys []string, args []any) *redis.Cmd {
		return c.UniversalClient.EvalSha(ctx, sha, keys, args...)
	})
}

// Eval implements redis.Scripter.
func (c *client) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return c.run(ctx, keys, args, func(ctx context.Context, keys []string, args []any) *redis.Cmd {
		return c.UniversalClient.Eval(ctx, source, keys, args...)
	})
}

// eval sends a script to the server.
type eval func(ctx context.Context, keys []string, args []any) *redis.Cmd

func (c *client) run(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	ctx, cancel := c.withCommands(ctx)
	defer cancel()
	switch {
	case isDequeue(keys, args):
		return c.dequeueRound(ctx, keys, args, send)
	case isForward(keys, args):
		return c.forwardDue(ctx, keys, args, send)
	case isArchive(keys):
		args = c.withoutLimits(ctx, args)
	}
	return send(ctx, keys, args)
}

// SAdd implements redis.Cmdable.
func (c *client) SAdd(ctx context.Context, key string, members ...any) *redis.IntCmd {
	ctx, cancel := c.withCommands(ctx)
	defer cancel()
	return c.UniversalClient.SAdd(ctx, key, members...)
}

// ZAdd implements redis.Cmdable.
func (c *client) ZAdd(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := c.withCommands(ctx)
	defer cancel()
	return c.UniversalClient.ZAdd(ctx, key, members...)
}

// ZAddXX implements redis.Cmdable.
func (c *client) ZAddXX(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := c.withCommands(ctx)
	defer cancel()
	return c.UniversalClient.ZAddXX(ctx, key, members...)
}

// ZRem implements redis.Cmdable.
func (c *client) ZRem(ctx context.Context, key string, members ...any) *redis.IntCmd {
	ctx, cancel := c.withCommands(ctx)
	defer cancel()
	return c.UniversalClient.ZRem(ctx, key, members...)
}

// isArchive reports whether keys are those of the script that archives a job.
func isArchive(keys []string) bool {
	return len(keys) > 3 && strings.HasSuffix(keys[1], "}:"+activePart) &&
		strings.HasSuffix(keys[3], "}:"+archivedPart)
}

// Arguments of the archive script.
const (
	archiveBefore   = 3 // older jobs are deleted
	archiveMost     = 4 // maximum number of jobs
	archiveArgCount = 7
)

var errArchive = errors.New("unsupported release of asynq: it deletes dead jobs after 90 days, " +
	"and above 10000 per kind and priority; use v0.26.0")

// withoutLimits returns the arguments of the archive script without limits for dead jobs.
// It reports errArchive once if it does not recognize the arguments.
func (c *client) withoutLimits(ctx context.Context, args []any) []any {
	if len(args) == archiveArgCount {
		_, before := args[archiveBefore].(int64)
		_, most := args[archiveMost].(int)
		if before && most {
			args = append([]any(nil), args...)
			args[archiveBefore], args[archiveMost] = int64(0), math.MaxInt32
			return args
		}
	}
	if !c.archiveReported.Swap(true) {
		c.worker.OnError(ctx, "archive", errArchive)
	}
	return args
}
