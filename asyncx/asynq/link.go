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

// link is the Redis client of asynq's server. It recognizes three of asynq's scripts by
// their keys and arguments, and changes them:
//
//   - dequeue: asynq tries its queues one after the other, always in the same order for
//     kinds of one priority. The link checks all queues with one pipeline, and dequeues
//     the oldest job of the highest priority.
//   - forward: the link skips queues without due jobs.
//   - archive: asynq deletes dead jobs after 90 days, and above 10000. The link disables
//     both limits.
//
// asynq sends commands without a context. The link cancels them when Work returns.
type link struct {
	redis.UniversalClient

	commandCtx      context.Context // of the commands
	acceptCtx       context.Context // canceled when no more jobs may start
	worker          *worker
	wake            chan struct{} // receives when jobs may be available
	looked          chan struct{} // closed at the first dequeue
	look            look
	forward         forward
	archiveReported atomic.Bool // an unknown archive script was reported
}

// newLink returns a link and a function that cancels its commands.
func newLink(acceptCtx context.Context, w *worker) (l *link, end func()) {
	commandCtx, end := context.WithCancel(context.WithoutCancel(acceptCtx))
	l = &link{
		UniversalClient: w.engine.client, commandCtx: commandCtx, acceptCtx: acceptCtx, worker: w,
		looked: make(chan struct{}),
	}
	l.look.queues = w.engine.names.ordered(w.Kinds)
	return l, end
}

// awaitLook returns errUnknown if asynq does not dequeue with the known script.
func (l *link) awaitLook(ctx context.Context) error {
	late := time.NewTimer(lookTime)
	defer late.Stop()
	select {
	case <-l.looked:
		return nil
	case <-ctx.Done():
		return nil
	case <-late.C:
		return errUnknown
	}
}

// withCommands returns a context that is canceled with ctx and with the link.
func (l *link) withCommands(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Done() == nil {
		return l.commandCtx, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok && errors.Is(ctx.Err(), context.Canceled) {
		// asynq retries a completion within the lease, but with the canceled context of
		// the first try.
		return context.WithDeadline(l.commandCtx, deadline)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.commandCtx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// EvalSha implements redis.Scripter.
func (l *link) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return l.run(ctx, keys, args, func(ctx context.Context, keys []string, args []any) *redis.Cmd {
		return l.UniversalClient.EvalSha(ctx, sha, keys, args...)
	})
}

// Eval implements redis.Scripter.
func (l *link) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	return l.run(ctx, keys, args, func(ctx context.Context, keys []string, args []any) *redis.Cmd {
		return l.UniversalClient.Eval(ctx, source, keys, args...)
	})
}

// eval sends a script to the server.
type eval func(ctx context.Context, keys []string, args []any) *redis.Cmd

func (l *link) run(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	ctx, cancel := l.withCommands(ctx)
	defer cancel()
	switch {
	case isTake(keys, args):
		return l.take(ctx, keys, args, send)
	case isForward(keys, args):
		return l.forwarded(ctx, keys, args, send)
	case isArchive(keys):
		args = l.archiving(ctx, args)
	}
	return send(ctx, keys, args)
}

// SAdd implements redis.Cmdable.
func (l *link) SAdd(ctx context.Context, key string, members ...any) *redis.IntCmd {
	ctx, cancel := l.withCommands(ctx)
	defer cancel()
	return l.UniversalClient.SAdd(ctx, key, members...)
}

// ZAdd implements redis.Cmdable.
func (l *link) ZAdd(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := l.withCommands(ctx)
	defer cancel()
	return l.UniversalClient.ZAdd(ctx, key, members...)
}

// ZAddXX implements redis.Cmdable.
func (l *link) ZAddXX(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := l.withCommands(ctx)
	defer cancel()
	return l.UniversalClient.ZAddXX(ctx, key, members...)
}

// ZRem implements redis.Cmdable.
func (l *link) ZRem(ctx context.Context, key string, members ...any) *redis.IntCmd {
	ctx, cancel := l.withCommands(ctx)
	defer cancel()
	return l.UniversalClient.ZRem(ctx, key, members...)
}

// isArchive reports whether keys are those of the script that archives a job.
func isArchive(keys []string) bool {
	return len(keys) > 3 && strings.HasSuffix(keys[1], "}:"+activePart) &&
		strings.HasSuffix(keys[3], "}:"+archivedPart)
}

// Arguments of the archive script.
const (
	archiveBefore = 3 // older jobs are deleted
	archiveMost   = 4 // maximum number of jobs
	archiveArgs   = 7
)

var errArchive = errors.New("unsupported release of asynq: it deletes dead jobs after 90 days, and above 10000 " +
	"per kind and priority; use v0.26.0")

// archiving returns the arguments without limits for dead jobs.
func (l *link) archiving(ctx context.Context, args []any) []any {
	if len(args) == archiveArgs {
		_, before := args[archiveBefore].(int64)
		_, most := args[archiveMost].(int)
		if before && most {
			args = append([]any(nil), args...)
			args[archiveBefore], args[archiveMost] = int64(0), math.MaxInt32
			return args
		}
	}
	if !l.archiveReported.Swap(true) {
		l.worker.OnError(ctx, "archive", errArchive)
	}
	return args
}
