package xreg

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

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/watchdog"
)

// Signals are SIGINT, SIGTERM and SIGHUP, caught from Register to the end of the Runner without a gap, in which one would
// be lost or would kill the process. A SIGHUP that the process was started to ignore, as by nohup, stays ignored.
type Signals struct {
	// C has the signals that come from now on.
	C <-chan os.Signal
	// Interrupted is when the first one has come, zero if none has: the application's context of Register, which Done
	// tells of, has ended with it.
	Interrupted time.Time

	stop func()
}

// Notify catches signals, for a Runner whose application New has made.
//
// From then on a write to a standard output or standard error that nobody reads any more is an error of that
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

// Stop gives signals their usual effect back.
func (s *Signals) Stop() { s.stop() }

// watch looks after signals as long as nobody else does: the first ends a context, the second the process. The process also
// ends if Register goes on for longer than the shutdown timeout after the first.
type watch struct {
	signals *Signals
	wish    context.CancelCauseFunc
	timeout atomic.Int64           // the shutdown timeout
	step    atomic.Pointer[string] // the name of the step that is being started
	started atomic.Bool            // Register has succeeded
	taken   chan struct{}          // closed when somebody else looks after them
	ended   chan struct{}          // closed when the watch is over
	take    sync.Once
}

// watchSignals begins a watch. The context that it returns is a child of ctx and ends with the first signal.
func watchSignals(ctx context.Context) (context.Context, *watch) {
	w := &watch{signals: Notify(), taken: make(chan struct{}), ended: make(chan struct{})}
	w.timeout.Store(int64(xenv.Duration(xenv.ShutdownTimeout)))
	ctx, w.wish = context.WithCancelCause(ctx)
	go w.run(ctx)
	return ctx, w
}

// run does not rely on the log: that may block.
func (w *watch) run(ctx context.Context) {
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
			exit(1)
			return
		case s := <-w.signals.C:
			if !w.signals.Interrupted.IsZero() {
				watchdog.Log(func() { initLog.Warn(ctx, "second signal: ending at once", slog.String("signal", s.String())) })
				exit(ExitCode(s))
				return
			}
			w.signals.Interrupted = time.Now()
			overtime = time.After(time.Duration(w.timeout.Load()) + watchdog.Grace)
			message := "start interrupted"
			if w.started.Load() {
				message = "stop requested"
			}
			watchdog.Log(func() { initLog.Notice(ctx, message, slog.String("signal", s.String())) })
			w.wish(fmt.Errorf("interrupted by signal: %s", s))
		}
	}
}

// logOvertime names the step that does not return although its context has ended.
func (w *watch) logOvertime(ctx context.Context) {
	name := "unknown"
	if step := w.step.Load(); step != nil {
		name = *step
	}
	initLog.Error(ctx, "shutdown timeout exceeded, exiting: a step of the start does not return", slog.String("step", name))
}

// settle tells the watch, which may be nil, what the settings say.
func (w *watch) settle(s Settings) {
	if w != nil && s.ShutdownTimeout > 0 {
		w.timeout.Store(int64(s.ShutdownTimeout))
	}
}

// enter tells the watch, which may be nil, which step comes next.
func (w *watch) enter(step string) {
	if w != nil {
		w.step.Store(&step)
	}
}

// succeed tells the watch, which may be nil, that Register has succeeded.
func (w *watch) succeed() {
	if w != nil {
		w.started.Store(true)
	}
}

// end ends the watch and returns the signals, once; then nil.
func (w *watch) end() (signals *Signals) {
	w.take.Do(func() {
		close(w.taken)
		<-w.ended
		signals = w.signals
	})
	return signals
}

// stop ends the watch, if nobody has yet, and gives signals their usual effect back.
func (w *watch) stop() {
	if s := w.end(); s != nil {
		s.Stop()
	}
	w.wish(nil)
}

// TakeSignals hands over to the caller, who is to call Stop, the signals that Register has caught since its beginning. It
// returns nil where there are none to hand over: after New, after Close, and the second time.
func (r *Reg) TakeSignals() *Signals {
	if r.watch == nil {
		return nil
	}
	return r.watch.end()
}

// ExitCode returns 128 and the number of a signal, as a shell does.
func ExitCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
