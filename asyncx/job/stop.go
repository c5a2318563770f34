package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

const (
	// lateGrace is how long a handler may run after its timeout before a log message
	// reports it.
	lateGrace = time.Second
	// abandonedWait delays a job with an abandoned handler, which runs until the process
	// exits.
	abandonedWait = 10 * time.Second
)

var (
	// errStopping is the cause of a context that shutdown canceled.
	errStopping = errors.New("job: the worker is stopping")
	// errAbandoned is the error of an attempt whose handler did not return during
	// shutdown.
	errAbandoned = errors.New("job: the handler did not return")
)

// shutdown is the shutdown state of a worker.
type shutdown struct {
	timeout    time.Duration // for running jobs
	once       sync.Once
	stopCtx    context.Context // canceled when running jobs must stop
	cancelStop context.CancelCauseFunc
	abandoned  chan struct{} // closed when running handlers are abandoned
	returned   chan struct{} // closed when Engine.Work has returned
	onReturn   func()        // must be called after Engine.Work has returned
}

// newWorker returns a worker, and a context that is canceled when the worker must not
// start more jobs.
func newWorker(ctx context.Context, c *config) (w *worker, acceptCtx context.Context) {
	w = &worker{config: c}
	w.timeout, w.abandoned, w.returned = c.stopTimeout, make(chan struct{}), make(chan struct{})
	w.stopCtx, w.cancelStop = context.WithCancelCause(context.WithoutCancel(ctx))
	acceptCtx, stop := context.WithCancel(ctx)
	xhook.OnShutdown(ctx, "jobs", func(limit context.Context) error {
		stop()
		w.stop(limit)
		select {
		case <-w.returned:
		case <-limit.Done():
		}
		return nil
	})
	cancelAfter := context.AfterFunc(ctx, func() { w.stop(context.WithoutCancel(ctx)) })
	w.onReturn = func() {
		cancelAfter()
		close(w.returned)
		stop()
		w.cancelStop(nil)
	}
	return w, acceptCtx
}

// stop waits for running jobs, cancels them when limit or the timeout expires, and
// abandons handlers that do not return.
func (s *shutdown) stop(limit context.Context) {
	s.once.Do(func() {
		err := xhook.Finish(limit, s.timeout, s.returned, func() { s.cancelStop(errStopping) })
		if errors.Is(err, xhook.ErrAbandoned) {
			close(s.abandoned)
		}
	})
}

// withStop returns a child of ctx that is also canceled when running jobs must stop.
func (s *shutdown) withStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.stopCtx, func() { cancel(context.Cause(s.stopCtx)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
