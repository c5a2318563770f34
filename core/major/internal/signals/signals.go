// Package signals catches the signals that stop a service, from the start to the end of its Runner.
package signals

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
)

// Handler is called with signals, one at a time. It must not rely on the log, which may block.
type Handler struct {
	// First is called with the first signal, before the context of the Watch ends. It may be nil.
	First func(os.Signal)
	// Next is called with every other one.
	Next func(os.Signal)
}

// Watch catches SIGINT, SIGTERM and SIGHUP, from Register to the end of the Runner without a gap, in
// which one would be lost or would kill the process. A SIGHUP that the process was started to ignore, as
// by nohup, stays ignored. A nil *Watch catches none.
type Watch struct {
	caught  chan os.Signal
	handler atomic.Pointer[Handler]
	cancel  context.CancelCauseFunc
	stop    func()
}

// New starts a Watch. The context that it returns is a child of ctx and ends with the first signal.
//
// From then on a write to a standard output or standard error that no process reads any more is an error of that
// write, and no SIGPIPE that ends the process in the middle of its requests.
func New(ctx context.Context, h Handler) (context.Context, *Watch) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	w := &Watch{caught: make(chan os.Signal, 2)}
	w.Handle(h)
	ctx, w.cancel = context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	w.stop = sync.OnceFunc(func() {
		signal.Stop(w.caught)
		close(stopped)
		w.cancel(nil)
	})
	signal.Notify(w.caught, list...)
	go w.run(stopped)
	return ctx, w
}

func (w *Watch) run(stopped <-chan struct{}) {
	for first := true; ; first = false {
		select {
		case <-stopped:
			return
		case s := <-w.caught:
			h := w.handler.Load()
			if !first {
				h.Next(s)
				continue
			}
			if h.First != nil {
				h.First(s)
			}
			w.cancel(fmt.Errorf("interrupted by signal: %s", s))
		}
	}
}

// Handle makes h the handler of the signals that come from now on.
func (w *Watch) Handle(h Handler) { w.handler.Store(&h) }

// Stop restores the default effect of signals.
func (w *Watch) Stop() {
	if w != nil {
		w.stop()
	}
}

// ExitCode returns 128 and the number of a signal, as a shell does.
func ExitCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
