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

// link is the client that asynq's server works with. It passes everything on, and has a
// hand in three of asynq's scripts, which it knows by their keys and arguments:
//
//   - taking a job. asynq asks each of its queues, one after the other, and takes the
//     kinds of one priority always in the same order. The link looks at all of them at
//     once, and takes the oldest job of the best priority.
//   - moving those whose time has come: it leaves out the queues that have none.
//   - archiving: asynq drops dead jobs after 90 days, and those above 10000. The link
//     lets it keep them.
//
// All commands end with the work, which asynq sends without a context.
type link struct {
	redis.UniversalClient

	life    context.Context // of the commands
	taking  context.Context // ends when no more jobs are to be taken
	worker  *worker
	wake    chan struct{} // filled when there is something to look for
	looked  chan struct{} // closed at the first look
	look    look
	forward forward
	odd     atomic.Bool // an unknown way to archive was told of
}

// newLink returns a link and what ends its commands.
func newLink(taking context.Context, w *worker) (l *link, end func()) {
	life, end := context.WithCancel(context.WithoutCancel(taking))
	l = &link{
		UniversalClient: w.engine.client, life: life, taking: taking, worker: w,
		looked: make(chan struct{}),
	}
	l.look.queues = w.engine.names.ordered(w.Kinds)
	return l, end
}

// awaitLook fails where asynq does not look for jobs in the way that the link knows.
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

// while returns a context that ends with ctx and with the link.
func (l *link) while(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Done() == nil {
		return l.life, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok && errors.Is(ctx.Err(), context.Canceled) {
		// asynq settles a job once more, within its lease, with the context of the first
		// time, which it has ended itself.
		return context.WithDeadline(l.life, deadline)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.life, cancel)
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

// eval sends a script of asynq's.
type eval func(ctx context.Context, keys []string, args []any) *redis.Cmd

func (l *link) run(ctx context.Context, keys []string, args []any, send eval) *redis.Cmd {
	ctx, cancel := l.while(ctx)
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
	ctx, cancel := l.while(ctx)
	defer cancel()
	return l.UniversalClient.SAdd(ctx, key, members...)
}

// ZAdd implements redis.Cmdable.
func (l *link) ZAdd(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := l.while(ctx)
	defer cancel()
	return l.UniversalClient.ZAdd(ctx, key, members...)
}

// ZAddXX implements redis.Cmdable.
func (l *link) ZAddXX(ctx context.Context, key string, members ...redis.Z) *redis.IntCmd {
	ctx, cancel := l.while(ctx)
	defer cancel()
	return l.UniversalClient.ZAddXX(ctx, key, members...)
}

// ZRem implements redis.Cmdable.
func (l *link) ZRem(ctx context.Context, key string, members ...any) *redis.IntCmd {
	ctx, cancel := l.while(ctx)
	defer cancel()
	return l.UniversalClient.ZRem(ctx, key, members...)
}

// isArchive knows the script that makes a job dead.
func isArchive(keys []string) bool {
	return len(keys) > 3 && strings.HasSuffix(keys[1], "}:"+activePart) &&
		strings.HasSuffix(keys[3], "}:"+archivedPart)
}

// The arguments of archiving.
const (
	archiveBefore = 3 // the jobs that died before then are dropped
	archiveMost   = 4 // and those above this number
	archiveArgs   = 7
)

var errArchive = errors.New("this release of asynq archives in another way, and drops dead jobs after 90 days, and those above 10000 " +
	"of a kind and priority: use v0.26.0")

// archiving returns the arguments with which all dead jobs are kept.
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
	if !l.odd.Swap(true) {
		l.worker.OnError(ctx, "archive", errArchive)
	}
	return args
}
