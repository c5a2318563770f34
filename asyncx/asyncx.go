// Package asyncx runs work in the background of one process.
//
//	asyncx.Async(ctx, func(ctx context.Context) {
//		audit.Record(ctx, user)
//	}, asyncx.WithName("audit"), asyncx.WithTimeout(10*time.Second))
//
// The work has the values of the request, such as its id and the database, without its
// end. A panic is logged with its stack and ends the work only. At the stop, when the
// last request and the last task have ended and before the nodes close, everything is
// awaited; what the shutdown timeout does not leave time for has its context ended, and
// is named in the error of the stop.
//
// All work of an application shares one pool: at most DefaultConcurrency pieces run at
// the same time and DefaultQueueSize wait, unless the node of Init says otherwise. What
// does not fit is refused at once, and the handle and the log say so: Async never blocks
// its caller.
//
// The work lives in the memory of the process, and dies with it. What must not be lost is
// a durable job: see package job.
//
// Everything here is safe for concurrent use.
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

// The errors that a caller may want to tell apart, with errors.Is.
var (
	// ErrFull reports work that was refused because too much was waiting. It never ran.
	ErrFull = errors.New("asyncx: too much work is waiting")
	// ErrStopped reports work that the stop left no time for, or that came after it. It
	// is also the cause of a context that the stop has ended.
	ErrStopped = errors.New("asyncx: the application stops")
	// ErrCanceled is the cause of a context that Cancel has ended.
	ErrCanceled = errors.New("asyncx: canceled")
	// ErrTimeout is the cause of a context that WithTimeout has ended.
	ErrTimeout = errors.New("asyncx: the work took too long")
	// ErrOption reports an option that makes no sense.
	ErrOption = errors.New("asyncx: wrong option")
)

// Async runs fn in the background. Its context has the values of ctx, but goes on when
// ctx ends; where ctx is in a transaction of xdb, the database in it is the one outside.
// It begins at once, also before that transaction commits: use xdb.OnCommit where it must
// not.
//
// Outside an application, as in a test, fn runs without a bound and nobody waits for it
// but the handle's owner.
//
// It panics where ctx is a *gin.Context or derived from one, since gin gives that to
// another request when the handler returns: c.Request.Context() is the one to use. It
// also panics where fn is nil or an option makes no sense.
func Async(ctx context.Context, fn func(ctx context.Context), options ...Option) *Handle {
	if fn == nil {
		panic("asyncx: Async: the function is nil")
	}
	return begin(ctx, nameOf(fn), func(ctx context.Context) error {
		fn(ctx)
		return nil
	}, options)
}

// AsyncErr is Async for work that can fail: with WithRetry it is tried again. An error is
// logged, and the handle has it.
func AsyncErr(ctx context.Context, fn func(ctx context.Context) error, options ...Option) *Handle {
	if fn == nil {
		panic("asyncx: AsyncErr: the function is nil")
	}
	return begin(ctx, nameOf(fn), fn, options)
}

// nameOf returns the name of a function.
func nameOf(fn any) string { return runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).Name() }

func begin(
	ctx context.Context, name string, fn func(ctx context.Context) error, options []Option,
) *Handle {
	if ctx.Value(xctx.PooledKey) != nil {
		panic("asyncx: the context is a *gin.Context or derived from one, which gin gives to another request when the handler " +
			"returns; use c.Request.Context()")
	}
	c, err := newConfig(name, options)
	if err != nil {
		panic(err)
	}
	h := &Handle{config: c, fn: fn, cut: context.Background(), done: make(chan struct{})}
	h.ctx, h.end = context.WithCancelCause(context.WithoutCancel(transaction.Without(ctx)))
	life := xhook.From(ctx)
	if life == nil {
		go h.attempt(1, func(run func()) { go run() })
		return h
	}
	poolOf(life, poolConfig{}).accept(h)
	return h
}
