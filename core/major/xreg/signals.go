package xreg

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Signals are SIGINT and SIGTERM, caught from Register to the end of the Runner without a gap, in which one would be lost
// or would kill the process.
type Signals struct {
	// C has the signals that come from now on.
	C <-chan os.Signal
	// Interrupted says that one has come before; the application's context of Register, which Done tells of, has ended
	// with it.
	Interrupted bool

	stop func()
}

// Notify catches signals, for a Runner whose application New has made.
func Notify() *Signals {
	c := make(chan os.Signal, 2)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	return &Signals{C: c, stop: func() { signal.Stop(c) }}
}

// Stop gives signals their usual effect back.
func (s *Signals) Stop() { s.stop() }

// watch looks after signals as long as nobody else does: the first ends a context, the second the process.
type watch struct {
	signals *Signals
	wish    context.CancelCauseFunc
	taken   chan struct{} // closed when somebody else looks after them
	ended   chan struct{} // closed when the watch is over
	take    sync.Once
}

// watchSignals begins a watch. The context that it returns is a child of ctx and ends with the first signal.
func watchSignals(ctx context.Context) (context.Context, *watch) {
	w := &watch{signals: Notify(), taken: make(chan struct{}), ended: make(chan struct{})}
	ctx, w.wish = context.WithCancelCause(ctx)
	go w.run(ctx)
	return ctx, w
}

func (w *watch) run(ctx context.Context) {
	defer close(w.ended)
	for {
		select {
		case <-w.taken:
			return // what the channel still holds is for the taker
		case s := <-w.signals.C:
			if w.signals.Interrupted {
				initLog.Warn(ctx, "second signal: ending at once", slog.String("signal", s.String()))
				exit(ExitCode(s))
				return
			}
			w.signals.Interrupted = true
			initLog.Notice(ctx, "start interrupted", slog.String("signal", s.String()))
			w.wish(fmt.Errorf("interrupted by signal: %s", s))
		}
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
