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

// maxError bounds the error that is kept with a job, in bytes.
const maxError = 2000

// workerDied is what is kept with a job whose attempt ended with its worker.
const workerDied = "the last attempt ended with the death of its worker"

// failedEvery is how often, at most, the log tells of an outage.
const failedEvery = 10 * time.Second

// errGone stands for the error of a handler whose goroutine has ended without returning.
var errGone = errors.New("job: the handler ended its goroutine")

// New returns a task for xmain.Runner that does jobs until the application stops.
//
// At the stop, when the server stops accepting requests, it takes no more jobs and waits
// for those that run. When the timeout of the graceful stop has run out, or the
// application's time, their contexts end, and what did not finish is put back for others
// without using up an attempt. What goes wrong at the start ends the application with an
// error. An outage of the database or server does not: the worker goes on when it is
// back.
func New(options ...Option) func(ctx context.Context, extra ...any) {
	c := newConfig(options)
	return func(ctx context.Context, _ ...any) {
		if err := c.work(ctx); err != nil && !xhook.Fail(ctx, err) {
			c.log.Error(ctx, "the worker failed", slog.Any("error", err))
		}
	}
}

// Work does jobs until ctx ends and those that run have ended, and returns what went
// wrong at the start. ctx carries the queue.
func Work(ctx context.Context, options ...Option) error { return newConfig(options).work(ctx) }

// work is one life of a worker.
func (c *config) work(ctx context.Context) error {
	queue, err := c.check(ctx)
	if err != nil {
		return err
	}
	w, taking := newWorker(ctx, c)
	defer w.ended()
	c.log.Notice(ctx, "working",
		slog.String("engine", queue.String()), slog.Int("kinds", len(c.handlers)),
		slog.Int("concurrency", c.concurrency))
	err = queue.engine.Work(taking, driver.Work{
		Kinds: c.kinds(), Concurrency: c.concurrency, PollInterval: c.poll, MaxDuration: c.longest(),
		Run: w.run, OnError: w.failed, OnLost: w.lost,
	})
	if err != nil {
		return fmt.Errorf("job: work on %s: %w", queue, err)
	}
	return nil
}

// worker is a running config.
type worker struct {
	*config
	stopping

	mu    sync.Mutex
	told  time.Time // when failed last wrote a line
	quiet int       // the outages since then
}

// failed tells of an outage, and not each time that somebody asks during one.
func (w *worker) failed(ctx context.Context, what string, err error) {
	w.mu.Lock()
	if !w.told.IsZero() && time.Since(w.told) < failedEvery {
		w.quiet++
		w.mu.Unlock()
		return
	}
	quiet := w.quiet
	w.told, w.quiet = time.Now(), 0
	w.mu.Unlock()
	w.log.Warn(ctx, "the queue does not answer",
		slog.String("operation", what), slog.Any("error", err), slog.Int("unreported", quiet))
}

// lost tells of an outcome that did not count.
func (w *worker) lost(ctx context.Context, a driver.Attempt, err error) {
	w.log.Warn(request(ctx, a), "job lost: its outcome does not count",
		append(attrsOf(a), slog.Any("cause", err))...)
}

func attrsOf(a driver.Attempt) []slog.Attr {
	return []slog.Attr{
		slog.String("kind", a.Kind), slog.String("id", a.ID),
		slog.Int("attempt", a.Number),
	}
}

// run makes an attempt and says what is to become of the job.
func (w *worker) run(ctx context.Context, a driver.Attempt) (o driver.Outcome) {
	ctx = request(ctx, a)
	attrs := attrsOf(a)
	err := xhook.Guard(func() error {
		o = w.try(ctx, a, attrs)
		return nil
	})
	if err != nil { // the backoff or a method of the handler's error
		o = driver.Outcome{
			Action: driver.Retry, Wait: backoff.Default()(a.Number),
			Error: text(err),
		}
		if a.Number >= a.MaxAttempts {
			o = driver.Outcome{Action: driver.Discard, Error: text(err)}
		}
		w.tell(ctx, o, err, attrs)
	}
	return o
}

func (w *worker) try(ctx context.Context, a driver.Attempt, attrs []slog.Attr) driver.Outcome {
	h := w.handlers[a.Kind]
	if h == nil { // the engine gives it to a worker that has asked for the kind
		return driver.Outcome{
			Action: driver.Release, Wait: w.poll,
			Error: "there is no handler for " + a.Kind + " here",
		}
	}
	if a.Number > a.MaxAttempts {
		w.log.Error(ctx, "job dead: its workers died", attrs...)
		return driver.Outcome{Action: driver.Discard, Error: workerDied}
	}
	if a.TakenOver {
		return w.pause(ctx, h, a)
	}
	attempt, cancel := w.cutWith(ctx)
	defer cancel()
	start := time.Now()
	err := w.await(attempt, h, a, attrs)
	attrs = append(slices.Clone(attrs), slog.Duration("took", time.Since(start)))
	o := w.verdict(attempt, h, a, err)
	if ctx.Err() != nil { // what becomes of it is another worker's business
		w.log.Warn(ctx, "job lost: it may be another worker's by now",
			append(attrs, slog.Any("cause", context.Cause(ctx)))...)
		return o
	}
	w.tell(ctx, o, err, attrs)
	return o
}

// pause lets a job wait whose worker died: it may be what killed that, or have been
// beside what did. The waits are spread by half of what they are, so that such jobs do
// not come together again.
func (w *worker) pause(ctx context.Context, h *Handler, a driver.Attempt) driver.Outcome {
	a.Number-- // this one is not made
	wait := backoff.Jitter(h.kind.backoff, 0.5)(a.Number)
	w.log.Warn(ctx, "job waits: its worker died",
		append(attrsOf(a), slog.Duration("wait", wait))...)
	return driver.Outcome{Action: driver.Release, Wait: wait, Error: workerDied}
}

// await runs the handler until it returns or is left behind.
func (w *worker) await(ctx context.Context, h *Handler, a driver.Attempt, attrs []slog.Attr) error {
	done := make(chan error, 1)
	go func() {
		err := errGone
		defer func() { done <- err }()
		err = h.attempt(ctx, a.Args)
	}()
	late := time.NewTimer(h.kind.timeout + lateGrace)
	defer late.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-w.left:
			return errLeft
		case <-late.C:
			w.log.Warn(ctx, "job goes on after its timeout: its handler does not return", attrs...)
		}
	}
}

// verdict turns the end of an attempt into what becomes of the job.
func (*worker) verdict(
	ctx context.Context, h *Handler, a driver.Attempt, err error,
) driver.Outcome {
	var dead *deadError
	var retry *retryError
	var snooze *snoozeError
	switch {
	case err == nil:
		return driver.Outcome{Action: driver.Complete}
	case errors.Is(err, errLeft):
		return driver.Outcome{Action: driver.Release, Wait: leftWait}
	case errors.As(err, &snooze):
		return driver.Outcome{Action: driver.Release, Wait: snooze.wait}
	case errors.As(err, &dead):
		return driver.Outcome{Action: driver.Discard, Error: text(err)}
	case errors.Is(context.Cause(ctx), errStopping):
		return driver.Outcome{Action: driver.Release}
	case a.Number >= a.MaxAttempts:
		return driver.Outcome{Action: driver.Discard, Error: text(err)}
	case errors.As(err, &retry):
		return driver.Outcome{Action: driver.Retry, Wait: retry.wait, Error: text(err)}
	default:
		return driver.Outcome{
			Action: driver.Retry, Wait: max(h.kind.backoff(a.Number), 0),
			Error: text(err),
		}
	}
}

// tell writes the line of an attempt.
func (w *worker) tell(ctx context.Context, o driver.Outcome, err error, attrs []slog.Attr) {
	attrs = slices.Clone(attrs)
	failed := slog.LevelWarn
	var p *xhook.PanicError
	if errors.As(err, &p) {
		failed = slog.LevelError
		attrs = append(attrs, slog.String("stack", string(p.Stack)))
	}
	switch o.Action {
	case driver.Complete:
		w.log.Info(ctx, "job done", attrs...)
	case driver.Discard:
		w.log.Error(ctx, "job dead", append(attrs, slog.Any("error", err))...)
	case driver.Release:
		if errors.Is(err, errLeft) {
			w.log.Error(ctx, "job left behind: its handler does not return", attrs...)
			return
		}
		w.log.Info(ctx, "job put back", append(attrs, slog.Duration("wait", o.Wait))...)
	case driver.Retry:
		w.log.Log(ctx, failed, "job failed",
			append(attrs, slog.Duration("wait", o.Wait), slog.Any("error", err))...)
	}
}

// text returns what is kept of an error.
func text(err error) string {
	s := strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "\uFFFD")
	if len(s) <= maxError {
		return s
	}
	cut := maxError
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
