package asyncx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// Handle is one piece of work. It is safe for concurrent use.
type Handle struct {
	config

	fn     func(ctx context.Context) error
	ctx    context.Context // of the work, over all of its attempts
	end    context.CancelCauseFunc
	cut    context.Context // of the pool; ctx ends soon after it
	done   chan struct{}
	err    error // once done is closed
	ended  func()
	begun  bool
	detach func() bool
}

// Name returns the name of the work.
func (h *Handle) Name() string { return h.name }

// Done is closed when the work has ended: when its last attempt has returned, or it was
// refused.
func (h *Handle) Done() <-chan struct{} { return h.done }

// Wait waits until the work or ctx has ended. The error is that of the last attempt, a
// *xhook.PanicError after a panic, ErrFull or ErrStopped for work that never ran, or that
// of ctx.
func (h *Handle) Wait(ctx context.Context) error {
	select {
	case <-h.done:
		return h.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel ends the context of the work, and the wait for its next attempt.
func (h *Handle) Cancel() { h.end(ErrCanceled) }

// finish ends the work. It is called once.
func (h *Handle) finish(err error) {
	h.err = err
	h.end(err)
	if h.detach != nil {
		h.detach()
	}
	close(h.done)
	if h.ended != nil {
		h.ended()
	}
}

// refuse ends work that never ran.
func (h *Handle) refuse(err error) {
	h.log.Error(h.ctx, "background work was refused",
		slog.String("work", h.name), slog.Any("error", err))
	h.finish(err)
}

// errExited stands for the error of work whose goroutine has ended without returning.
var errExited = errors.New("asyncx: the work has called runtime.Goexit")

// attempt makes an attempt, the first being 1, and gives the next one to submit when its
// time has come.
func (h *Handle) attempt(number int, submit func(run func())) {
	if err := h.cause(); err != nil {
		h.abandon(err)
		return
	}
	h.begun = true
	start := time.Now()
	err := errExited
	// also where run does not return
	defer func() { h.settle(number, time.Since(start), err, submit) }()
	err = h.run()
}

// settle ends the work after an attempt, or lets it wait for the next one.
func (h *Handle) settle(number int, took time.Duration, err error, submit func(run func())) {
	if err == nil {
		h.log.Debug(h.ctx, "background work done",
			slog.String("work", h.name), slog.Duration("took", took))
		h.finish(nil)
		return
	}
	attrs := []slog.Attr{
		slog.String("work", h.name), slog.Int("attempt", number),
		slog.Duration("took", took), slog.Any("error", err),
	}
	var p *xhook.PanicError
	if errors.As(err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	var wait time.Duration
	last := number >= h.attempts || h.cause() != nil
	if !last {
		policy := xhook.Guard(func() error {
			wait = max(h.backoff(number), 0)
			return nil
		})
		if policy != nil {
			last, attrs = true, append(attrs, slog.String("backoff", policy.Error()))
		}
	}
	if last {
		h.tell("background work failed", attrs...)
		h.finish(err)
		return
	}
	h.log.Warn(h.ctx, "background work failed, and is tried again",
		append(attrs, slog.Duration("wait", wait))...)
	h.after(wait, func() { submit(func() { h.attempt(number+1, submit) }) })
}

// cause returns why the work is not to go on, or nil.
func (h *Handle) cause() error {
	if err := context.Cause(h.ctx); err != nil {
		return err
	}
	return context.Cause(h.cut)
}

// abandon ends work whose context ended before the next attempt.
func (h *Handle) abandon(err error) {
	message := "background work was ended between two attempts"
	if !h.begun {
		message = "background work was ended before it began"
	}
	h.tell(message, slog.String("work", h.name), slog.Any("error", err))
	h.finish(err)
}

// tell writes a line about the end of work: an error, unless its owner has canceled it.
func (h *Handle) tell(message string, attrs ...slog.Attr) {
	if errors.Is(context.Cause(h.ctx), ErrCanceled) {
		h.log.Info(h.ctx, message, attrs...)
		return
	}
	h.log.Error(h.ctx, message, attrs...)
}

// after calls next when the time is over or the context of the work has ended.
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

// run calls the function once. An error that comes from the end of its context says why
// that ended.
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
