package asyncx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// Handle is a background task. It is safe for concurrent use.
type Handle struct {
	config

	fn      func(ctx context.Context) error
	ctx     context.Context // parent of the contexts of all attempts
	end     context.CancelCauseFunc
	stopCtx context.Context // of the pool; its cancellation cancels ctx
	done    chan struct{}
	err     error // valid after done is closed
	onDone  func()
	started bool
	detach  func() bool
}

// Name returns the name of the task.
func (h *Handle) Name() string { return h.name }

// Done returns a channel that is closed when the last attempt has returned or the task
// was rejected.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Wait waits until the task is done or ctx is canceled. It returns the error of the last
// attempt, which is an *xhook.PanicError after a panic. It returns ErrFull or ErrStopped
// if the task was rejected, ErrStopped or ErrCanceled if the task was canceled before its
// next attempt, and the cause of ctx if ctx was canceled first.
func (h *Handle) Wait(ctx context.Context) error {
	select {
	case <-h.done:
		return h.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel cancels the context of the task, and the wait for its next attempt.
func (h *Handle) Cancel() { h.end(ErrCanceled) }

// finish completes the task. It is called once.
func (h *Handle) finish(err error) {
	h.err = err
	h.end(err)
	if h.detach != nil {
		h.detach()
	}
	close(h.done)
	if h.onDone != nil {
		h.onDone()
	}
}

// reject completes a task that never ran.
func (h *Handle) reject(err error) {
	h.log.Error(h.ctx, "background task rejected",
		slog.String("work", h.name), slog.Any("error", err))
	h.finish(err)
}

// errExited is the error of a task that called runtime.Goexit.
var errExited = errors.New("asyncx: the task called runtime.Goexit")

// attempt runs one attempt. number counts from 1. If a retry is needed, attempt passes it
// to submit when it is due.
func (h *Handle) attempt(number int, submit func(run func())) {
	if err := h.cause(); err != nil {
		h.abandon(err)
		return
	}
	h.started = true
	start := time.Now()
	err := errExited
	// deferred, so that it also runs after runtime.Goexit
	defer func() { h.settle(number, time.Since(start), err, submit) }()
	err = h.run()
}

// settle completes the task after an attempt, or schedules the next attempt.
func (h *Handle) settle(number int, elapsed time.Duration, err error, submit func(run func())) {
	if err == nil {
		h.log.Debug(h.ctx, "background task done",
			slog.String("work", h.name), slog.Duration("took", elapsed))
		h.finish(nil)
		return
	}
	attrs := []slog.Attr{
		slog.String("work", h.name), slog.Int("attempt", number),
		slog.Duration("took", elapsed), slog.Any("error", err),
	}
	var p *xhook.PanicError
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	var wait time.Duration
	last := number >= h.attempts || h.cause() != nil
	if !last {
		policyErr := xhook.Guard(func() error {
			wait = max(h.backoff(number), 0)
			return nil
		})
		if policyErr != nil {
			last, attrs = true, append(attrs, slog.String("backoff", policyErr.Error()))
		}
	}
	if last {
		h.logEnd("background task failed", attrs...)
		h.finish(err)
		return
	}
	h.log.Warn(h.ctx, "background task failed, will retry",
		append(attrs, slog.Duration("wait", wait))...)
	h.after(wait, func() { submit(func() { h.attempt(number+1, submit) }) })
}

// cause returns the cause of the task's cancellation, or nil.
func (h *Handle) cause() error {
	if err := context.Cause(h.ctx); err != nil {
		return err
	}
	return context.Cause(h.stopCtx)
}

// abandon completes a task that was canceled before its next attempt.
func (h *Handle) abandon(err error) {
	message := "background task canceled between attempts"
	if !h.started {
		message = "background task canceled before it started"
	}
	h.logEnd(message, slog.String("work", h.name), slog.Any("error", err))
	h.finish(err)
}

// logEnd logs a failed task, as an error unless Cancel was called.
func (h *Handle) logEnd(message string, attrs ...slog.Attr) {
	if errors.Is(context.Cause(h.ctx), ErrCanceled) {
		h.log.Info(h.ctx, message, attrs...)
		return
	}
	h.log.Error(h.ctx, message, attrs...)
}

// after calls next after wait, or when the task is canceled.
func (h *Handle) after(wait time.Duration, next func()) {
	timer := time.NewTimer(wait)
	go func() {
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-h.ctx.Done():
		}
		next()
	}()
}

// run calls the function once. If its context was canceled, the error wraps the cause.
func (h *Handle) run() error {
	ctx := h.ctx
	if h.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.timeout, ErrTimeout)
		defer cancel()
	}
	err := xhook.Guard(func() error { return h.fn(ctx) })
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}
