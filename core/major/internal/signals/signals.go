// Package signals catches the signals that stop a service, from the start to the end of its Runner.
package signals

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/internal/watchdog"
)

// Signals are SIGINT, SIGTERM and SIGHUP, caught from Register to the end of the Runner without a gap, in which one would
// be lost or would kill the process. A SIGHUP that the process was started to ignore, as by nohup, stays ignored.
type Signals struct {
	// C has the signals that come from now on.
	C <-chan os.Signal
	// Interrupted is when the first signal came, zero if none has. The context of NewWatch ended then.
	Interrupted time.Time

	stop func()
}

// Notify catches signals.
//
// From then on a write to a standard output or standard error that no process reads any more is an error of that
// write, and no SIGPIPE that ends the process in the middle of its requests.
func Notify() *Signals {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c := make(chan os.Signal, 2)
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	signal.Notify(c, list...)
	return &Signals{C: c, stop: func() { signal.Stop(c) }}
}

// Stop restores the default effect of signals.
func (s *Signals) Stop() { s.stop() }

// Watch handles signals during a start: the first ends a context, the second the process. The process
// also ends if the start goes on for longer than the shutdown timeout after the first. A nil *Watch is
// valid and does nothing.
type Watch struct {
	signals *Signals
	log     *xlog.LogNamedLogger
	exit    func(code int)
	cancel  context.CancelCauseFunc
	timeout atomic.Int64           // the shutdown timeout
	step    atomic.Pointer[string] // the name of the step that is being started
	started atomic.Bool            // the start has succeeded
	taken   chan struct{}          // closed by Take
	ended   chan struct{}          // closed when run returns
	take    sync.Once
}

// NewWatch starts a watch. The context that it returns is a child of ctx and ends with the first
// signal; the process exits with exit if the stop takes longer than timeout.
func NewWatch(ctx context.Context, log *xlog.LogNamedLogger, timeout time.Duration, exit func(code int)) (context.Context, *Watch) {
	w := &Watch{signals: Notify(), log: log, exit: exit, taken: make(chan struct{}), ended: make(chan struct{})}
	w.timeout.Store(int64(timeout))
	ctx, w.cancel = context.WithCancelCause(ctx)
	go w.run(ctx)
	return ctx, w
}

// run does not rely on the log: that may block.
func (w *Watch) run(ctx context.Context) {
	defer close(w.ended)
	var overtime <-chan time.Time
	for {
		select {
		case <-w.taken:
			return // what the channel still holds is for the taker
		case <-overtime:
			if w.started.Load() {
				continue // a program without a Runner bounds its own stop
			}
			watchdog.Log(func() { w.logOvertime(ctx) })
			w.exit(1)
			return
		case s := <-w.signals.C:
			if !w.signals.Interrupted.IsZero() {
				watchdog.Log(func() { w.log.Warn(ctx, "second signal: ending at once", slog.String("signal", s.String())) })
				w.exit(ExitCode(s))
				return
			}
			w.signals.Interrupted = time.Now()
			overtime = time.After(time.Duration(w.timeout.Load()) + watchdog.Grace)
			message := "start interrupted"
			if w.started.Load() {
				message = "stop requested"
			}
			watchdog.Log(func() { w.log.Notice(ctx, message, slog.String("signal", s.String())) })
			w.cancel(fmt.Errorf("interrupted by signal: %s", s))
		}
	}
}

// logOvertime names the step that does not return although its context has ended.
func (w *Watch) logOvertime(ctx context.Context) {
	name := "unknown"
	if step := w.step.Load(); step != nil {
		name = *step
	}
	w.log.Error(ctx, "shutdown timeout exceeded, exiting: a step of the start does not return", slog.String("step", name))
}

// SetTimeout sets the shutdown timeout, unless d is not positive.
func (w *Watch) SetTimeout(d time.Duration) {
	if w != nil && d > 0 {
		w.timeout.Store(int64(d))
	}
}

// Enter notes which step of the start comes next.
func (w *Watch) Enter(step string) {
	if w != nil {
		w.step.Store(&step)
	}
}

// Succeed notes that the start has succeeded.
func (w *Watch) Succeed() {
	if w != nil {
		w.started.Store(true)
	}
}

// Take ends the watch and returns its signals to the caller, who must call Stop. A second call returns
// nil.
func (w *Watch) Take() (signals *Signals) {
	if w == nil {
		return nil
	}
	w.take.Do(func() {
		close(w.taken)
		<-w.ended
		signals = w.signals
	})
	return signals
}

// Stop ends the watch, if Take has not, and restores the default effect of signals.
func (w *Watch) Stop() {
	if w == nil {
		return
	}
	if s := w.Take(); s != nil {
		s.Stop()
	}
	w.cancel(nil)
}

// ExitCode returns 128 and the number of a signal, as a shell does.
func ExitCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
