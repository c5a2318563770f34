package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// maxError is the maximum length of a stored error, in bytes.
const maxError = 2000

// workerCrashed is the stored error of a job whose worker crashed.
const workerCrashed = "the worker of the last attempt crashed"

// outageLogInterval is the minimum interval between log messages about an outage.
const outageLogInterval = 10 * time.Second

// errGoexit is the error of a handler that called runtime.Goexit.
var errGoexit = errors.New("job: the handler called runtime.Goexit")

// New returns a task for xmain.Runner that runs jobs until the application stops.
//
// When shutdown starts, the worker starts no more jobs and waits for running jobs. When
// the graceful stop timeout or the application's shutdown timeout expires, it cancels
// their contexts. Unfinished jobs are released without using an attempt.
//
// A startup error stops the application. After an outage of the database or server, the
// worker continues.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		if err := c.work(ctx); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "worker failed", slog.Any("error", err))
		}
	}
}

// Work runs jobs until ctx is canceled, and returns when the running jobs have returned.
// It returns startup errors. ctx must have a queue.
func Work(ctx context.Context, options ...Option) error { return newConfig(options).work(ctx) }

// work runs a worker until it stops.
func (c *config) work(ctx context.Context) error {
	queue, err := c.check(ctx)
	if err != nil {
		return err
	}
	w, acceptCtx := newWorker(ctx, c)
	defer w.onReturn()
	c.log.Notice(ctx, "worker started",
		slog.String("engine", queue.String()), slog.Int("kinds", len(c.handlers)),
		slog.Int("concurrency", c.concurrency))
	err = queue.engine.Work(acceptCtx, driver.Work{
		Kinds: c.kinds(), Concurrency: c.concurrency, PollInterval: c.poll,
		MaxDuration: c.longest(),

		Run: w.run, OnError: w.onError, OnLost: w.onLost,
	})
	if err != nil {
		return fmt.Errorf("job: work on %s: %w", queue, err)
	}
	return nil
}

// worker is a started worker.
type worker struct {
	*config
	shutdown

	mu         sync.Mutex
	loggedAt   time.Time // time of the last outage message
	suppressed int       // failures since then
}

// onError logs a failed operation of the engine, at most once per outageLogInterval.
func (w *worker) onError(ctx context.Context, operation string, err error) {
	w.mu.Lock()
	if !w.loggedAt.IsZero() && time.Since(w.loggedAt) < outageLogInterval {
		w.suppressed++
		w.mu.Unlock()
		return
	}
	suppressed := w.suppressed
	w.loggedAt, w.suppressed = time.Now(), 0
	w.mu.Unlock()
	w.log.Warn(ctx, "queue operation failed",
		slog.String("operation", operation), slog.Any("error", err),
		slog.Int("unreported", suppressed))
}

// onLost logs an ignored outcome.
func (w *worker) onLost(ctx context.Context, a driver.Attempt, err error) {
	w.log.Warn(requestContext(ctx, a), "job lost: outcome ignored",
		append(attrsOf(a), slog.Any("cause", err))...)
}

func attrsOf(a driver.Attempt) []slog.Attr {
	return []slog.Attr{
		slog.String("kind", a.Kind), slog.String("id", a.ID), slog.Int("attempt", a.Number),
	}
}

// run runs an attempt and returns its outcome.
func (w *worker) run(ctx context.Context, a driver.Attempt) (o driver.Outcome) {
	ctx = requestContext(ctx, a)
	attrs := attrsOf(a)
	err := xhook.Guard(func() error {
		o = w.try(ctx, a, attrs)
		return nil
	})
	if err != nil { // the backoff or a method of the handler's error panicked
		o = driver.Outcome{
			Action: driver.Retry, Wait: backoff.Default()(a.Number), Error: errorText(err),
		}
		if a.Number >= a.MaxAttempts {
			o = driver.Outcome{Action: driver.Discard, Error: errorText(err)}
		}
		w.logOutcome(ctx, o, err, attrs)
	}
	return o
}

func (w *worker) try(ctx context.Context, a driver.Attempt, attrs []slog.Attr) driver.Outcome {
	h := w.handlers[a.Kind]
	if h == nil { // a worker with a handler can run the released job
		return driver.Outcome{
			Action: driver.Release, Wait: w.poll, Error: "this worker has no handler for " + a.Kind,
		}
	}
	if a.Number > a.MaxAttempts {
		w.log.Error(ctx, "job dead-lettered: workers crashed", attrs...)
		return driver.Outcome{Action: driver.Discard, Error: workerCrashed}
	}
	if a.TakenOver {
		return w.delay(ctx, h, a)
	}
	attempt, cancel := w.withStop(ctx)
	defer cancel()
	start := time.Now()
	err := w.await(attempt, h, a, attrs)
	attrs = append(slices.Clone(attrs), slog.Duration("took", time.Since(start)))
	o := w.outcome(attempt, h, a, err)
	if ctx.Err() != nil { // the job was reassigned
		w.log.Warn(ctx, "job lost: possibly reassigned",
			append(attrs, slog.Any("cause", context.Cause(ctx)))...)
		return o
	}
	w.logOutcome(ctx, o, err, attrs)
	return o
}

// delay releases a job whose worker crashed. Any job of that worker may have caused the
// crash, so jitter makes these jobs run at different times.
func (w *worker) delay(ctx context.Context, h *Handler, a driver.Attempt) driver.Outcome {
	a.Number-- // this attempt does not run
	wait := backoff.Jitter(h.kind.backoff, 0.5)(a.Number)
	w.log.Warn(ctx, "job delayed: worker crashed",
		append(attrsOf(a), slog.Duration("wait", wait))...)
	return driver.Outcome{Action: driver.Release, Wait: wait, Error: workerCrashed}
}

// await runs the handler until it returns or is abandoned.
func (w *worker) await(ctx context.Context, h *Handler, a driver.Attempt, attrs []slog.Attr) error {
	done := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { done <- err }()
		err = h.attempt(ctx, a.Args)
	}()
	timer := time.NewTimer(h.kind.timeout + lateGrace)
	defer timer.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-w.abandoned:
			return errAbandoned
		case <-timer.C:
			w.log.Warn(ctx, "handler still running after its timeout", attrs...)
		}
	}
}

// outcome returns the outcome of an attempt whose handler returned err.
func (*worker) outcome(
	ctx context.Context, h *Handler, a driver.Attempt, err error,
) driver.Outcome {
	var dead *deadError
	var retry *retryError
	var snooze *snoozeError
	switch {
	case err == nil:
		return driver.Outcome{Action: driver.Complete}
	case errors.Is(err, errAbandoned):
		return driver.Outcome{Action: driver.Release, Wait: abandonedWait}
	case errors.As(err, &snooze):
		return driver.Outcome{Action: driver.Release, Wait: snooze.wait}
	case errors.As(err, &dead):
		return driver.Outcome{Action: driver.Discard, Error: errorText(err)}
	case errors.Is(context.Cause(ctx), errStopping):
		return driver.Outcome{Action: driver.Release}
	case a.Number >= a.MaxAttempts:
		return driver.Outcome{Action: driver.Discard, Error: errorText(err)}
	case errors.As(err, &retry):
		return driver.Outcome{Action: driver.Retry, Wait: retry.wait, Error: errorText(err)}
	default:
		return driver.Outcome{
			Action: driver.Retry, Wait: max(h.kind.backoff(a.Number), 0), Error: errorText(err),
		}
	}
}

// logOutcome logs the outcome of an attempt.
func (w *worker) logOutcome(ctx context.Context, o driver.Outcome, err error, attrs []slog.Attr) {
	attrs = slices.Clone(attrs)
	level := slog.LevelWarn // of a failure
	var p *xhook.PanicError
	if errors.As(err, &p) {
		level = slog.LevelError
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	switch o.Action {
	case driver.Complete:
		w.log.Info(ctx, "job done", attrs...)
	case driver.Discard:
		w.log.Error(ctx, "job dead-lettered", append(attrs, slog.Any("error", err))...)
	case driver.Release:
		if errors.Is(err, errAbandoned) {
			w.log.Error(ctx, "job abandoned: handler did not return", attrs...)
			return
		}
		w.log.Info(ctx, "job released", append(attrs, slog.Duration("wait", o.Wait))...)
	case driver.Retry:
		w.log.Log(ctx, level, "job failed",
			append(attrs, slog.Duration("wait", o.Wait), slog.Any("error", err))...)
	}
}

// errorText returns the stored form of err: valid UTF-8 without NUL, at most maxError
// bytes.
func errorText(err error) string {
	s := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "\uFFFD")
	if len(s) <= maxError {
		return s
	}
	end := maxError
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
