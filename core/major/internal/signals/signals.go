// Package signals catches the signals that stop a service.
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

// Watch catches SIGINT, SIGTERM and SIGHUP from Register until the Runner returns,
// without a gap in which a signal would be lost or would kill the process. It leaves
// SIGHUP ignored if the process was started that way, for example by nohup. A nil *Watch
// catches no signals.
type Watch struct {
	handler atomic.Pointer[Handler]
	cancel  context.CancelCauseFunc
	stop    func()
}

// Handler handles a signal. Calls do not overlap, and the first call returns before the
// context of the Watch is canceled. A Handler must not depend on the log, which may
// block: see package report.
type Handler func(s os.Signal, first bool)

// New starts a Watch and returns a child of ctx that the first signal cancels.
//
// New also catches SIGPIPE. A write to a closed standard output or standard error then
// fails, instead of killing the process and its in-flight requests.
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
		close(caught) // safe, because no signal is sent after Stop
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
		// the first call sets the cause; later calls have no effect
		w.cancel(fmt.Errorf("interrupted by signal: %s", s))
		first = false
	}
}

// Handle replaces the handler for future signals.
func (w *Watch) Handle(handler Handler) { w.handler.Store(&handler) }

// Stop restores the default behavior of the signals.
func (w *Watch) Stop() {
	if w != nil {
		w.stop()
	}
}

// Grace is the time that a shutdown may take in addition to its timeout. A graceful
// shutdown that times out still has to close its nodes and its log.
const Grace = 2 * time.Second

// ExitCode returns 128 plus the signal number, as shells do.
func ExitCode(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
