// Package asyncx runs background tasks in the process of the application.
//
//	asyncx.Async(ctx, func(ctx context.Context) {
//		audit.Record(ctx, user)
//	}, asyncx.WithName("audit"), asyncx.WithTimeout(10*time.Second))
//
// A task has the values of the request's context, such as the request ID and the
// database, but not its cancellation. A panic is logged with its stack and stops only the
// task.
//
// Shutdown waits for all tasks after the last request and before the nodes close. Shortly
// before the shutdown timeout expires, it cancels the remaining tasks and returns an
// error with their names.
//
// All tasks of an application share one pool. At most DefaultConcurrency tasks run
// concurrently, and at most DefaultQueueSize tasks wait; Init changes these limits. A
// task beyond the limits is rejected: its Handle.Wait returns ErrFull, and a log message
// reports it. Async never blocks.
//
// Tasks exist only in memory: a crash of the process loses them. Use package job for
// durable jobs.
//
// All functions and types are safe for concurrent use.
package asyncx

import (
	"context"
	"errors"
	"reflect"
	"runtime"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// Errors of this package, possibly wrapped.
var (
	// ErrFull reports a task that was rejected because the queue is full. It never ran.
	ErrFull = errors.New("asyncx: the queue is full")
	// ErrStopped reports a task that shutdown canceled or rejected. It is also the cause
	// of a context that shutdown canceled.
	ErrStopped = errors.New("asyncx: the application is stopping")
	// ErrCanceled is the cause of a context that Handle.Cancel canceled.
	ErrCanceled = errors.New("asyncx: canceled")
	// ErrTimeout is the cause of a context that WithTimeout canceled.
	ErrTimeout = errors.New("asyncx: the task timed out")
	// ErrOption reports an invalid option.
	ErrOption = errors.New("asyncx: invalid option")
)

// Async runs fn in the background. The context of fn has the values of ctx without its
// cancellation. If ctx is in an xdb transaction, fn uses the database outside the
// transaction and may start before the commit; call Async in xdb.OnCommit to start fn
// after the commit.
//
// Outside an application, for example in a test, there is no concurrency limit, and only
// the caller can wait for fn.
//
// Async panics if fn is nil or an option is invalid. It also panics if ctx is a
// *gin.Context or derived from one, because gin reuses it after the handler returns; use
// c.Request.Context() instead.
func Async(ctx context.Context, fn func(ctx context.Context), options ...Option) *Handle {
	if fn == nil {
		panic("asyncx: Async: the function is nil")
	}
	return start(ctx, nameOf(fn), func(ctx context.Context) error {
		fn(ctx)
		return nil
	}, options)
}

// AsyncErr is like Async for a function that returns an error. The error is logged and
// available from the handle. WithRetry retries the function.
func AsyncErr(ctx context.Context, fn func(ctx context.Context) error, options ...Option) *Handle {
	if fn == nil {
		panic("asyncx: AsyncErr: the function is nil")
	}
	return start(ctx, nameOf(fn), fn, options)
}

// nameOf returns the name of a function.
func nameOf(fn any) string { return runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name() }

func start(
	ctx context.Context, name string, fn func(ctx context.Context) error, options []Option,
) *Handle {
	if ctx.Value(xctx.PooledKey) != nil {
		panic("asyncx: the context is a *gin.Context or derived from one, which gin reuses " +
			"after the handler returns; use c.Request.Context()")
	}
	c, err := newConfig(name, options)
	if err != nil {
		panic(err)
	}
	h := &Handle{config: c, fn: fn, stopCtx: context.Background(), done: make(chan struct{})}
	h.ctx, h.end = context.WithCancelCause(context.WithoutCancel(transaction.Without(ctx)))
	lifecycle := xhook.From(ctx)
	if lifecycle == nil {
		go h.attempt(1, func(run func()) { go run() })
		return h
	}
	poolOf(lifecycle, poolConfig{}).accept(h)
	return h
}
