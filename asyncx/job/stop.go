package job

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

const (
	// lateGrace is how long a handler has to return after the timeout of its kind, before
	// the log tells of it.
	lateGrace = time.Second
	// leftWait is how long a job waits whose handler was left behind: that runs until the
	// process ends.
	leftWait = 10 * time.Second
)

var (
	// errStopping is the cause of a context that ended because the stop does not wait any
	// longer.
	errStopping = errors.New("job: the worker stops")
	// errLeft stands for the error of a handler that was left behind.
	errLeft = errors.New("job: the handler does not return")
)

// stopping is how a worker stops.
type stopping struct {
	patience time.Duration // of the stop with jobs that run
	once     sync.Once
	cut      context.Context // ends when the stop does not wait any longer
	cutOff   context.CancelCauseFunc
	left     chan struct{} // closed when handlers that have not returned since then are left behind
	over     chan struct{} // closed when the work has ended
	ended    func()        // is to be called then
}

// newWorker returns a worker and the context whose end lets it take no more jobs.
func newWorker(ctx context.Context, c *config) (w *worker, taking context.Context) {
	w = &worker{config: c}
	w.patience, w.left, w.over = c.stopTimeout, make(chan struct{}), make(chan struct{})
	w.cut, w.cutOff = context.WithCancelCause(context.WithoutCancel(ctx))
	taking, stop := context.WithCancel(ctx)
	xhook.OnShutdown(ctx, "jobs", func(limit context.Context) error {
		stop()
		w.end(limit)
		select {
		case <-w.over:
		case <-limit.Done():
		}
		return nil
	})
	forget := context.AfterFunc(ctx, func() { w.end(context.WithoutCancel(ctx)) })
	w.ended = func() {
		forget()
		close(w.over)
		stop()
		w.cutOff(nil)
	}
	return w, taking
}

// end waits for the jobs that run, tells them to end when limit or the timeout says so,
// and leaves behind what does not.
func (s *stopping) end(limit context.Context) {
	s.once.Do(func() {
		err := xhook.Finish(limit, s.patience, s.over, func() { s.cutOff(errStopping) })
		if errors.Is(err, xhook.ErrAbandoned) {
			close(s.left)
		}
	})
}

// cutWith returns a context that ends with ctx, and when the stop does not wait any
// longer.
func (s *stopping) cutWith(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.cut, func() { cancel(context.Cause(s.cut)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
