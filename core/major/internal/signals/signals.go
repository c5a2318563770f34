// Package signals catches the signals that stop a service, from the start to the end of
// its Runner.
package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Watch catches SIGINT, SIGTERM and SIGHUP, from Register to the end of the Runner
// without a gap, in which one would be lost or would kill the process. A SIGHUP that the
// process was started to ignore, as by nohup, stays ignored. A nil *Watch catches none.
type Watch struct {
	handler atomic.Pointer[Handler]
	cancel  context.CancelCauseFunc
	stop    func()
}

// Handler is called with signals, one at a time, before the first ends the context of the
// Watch. It must not rely on the log, which may block: see package report.
type Handler func(s os.Signal, first bool)

// New starts a Watch. The context that it returns is a child of ctx and ends with the
// first signal.
//
// From then on a write to a standard output or standard error that no process reads any
// more is an error of that write, and no SIGPIPE that ends the process in the middle of
// its requests.
func New(ctx context.Context, handler Handler) (context.Context, *Watch) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	caught := make(chan os.Signal, 2)
	w := &Watch{}
	w.Handle(handler)
	ctx, w.cancel = context.WithCancelCause(ctx)
	w.stop = sync.OnceFunc(func() {
		signal.Stop(caught)
		close(caught) // after Stop nothing is sent
		w.cancel(nil)
	})
	signal.Notify(caught, list...)
	go w.run(caught)
	return ctx, w
}

func (w *Watch) run(caught <-chan os.Signal) {
	first := true
	for s := range caught {
		(*w.handler.Load())(s, first)
		// of the first; later ones change nothing
		w.cancel(fmt.Errorf("interrupted by signal: %s", s))
		first = false
	}
}

// Handle makes handler that of the signals that come from now on.
func (w *Watch) Handle(handler Handler) { w.handler.Store(&handler) }

// Stop restores the default effect of signals.
func (w *Watch) Stop() {
	if w != nil {
		w.stop()
	}
}

// Grace is what a stop may take beyond the shutdown timeout: an orderly stop that runs
// into its timeout still has to close its nodes and its log.
const Grace = 2 * time.Second

// ExitCode returns 128 and the number of a signal, as a shell does.
func ExitCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
