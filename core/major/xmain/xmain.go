// Package xmain serves an application until it is told to stop, and stops it in order.
//
//	func main() {
//		reg := xreg.Register(context.Background(), nodes, options...)
//		xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, worker)
//	}
//
// The start: start hooks, listen, tasks; when every hold of xhook.HoldReady is released,
// ready hooks; then the service reports ready.
//
// The stop begins with SIGTERM, SIGINT, SIGHUP, a failure, or the end of the context that
// Register was given, also where they come before the service is ready: drain hooks run,
// and the service reports not ready and still serves for the drain delay; it stops
// accepting and finishes the requests that are in flight, while the shutdown hooks finish
// what other servers have in flight; the tasks' context ends and they are awaited; stop
// hooks run and nodes are closed, both in reverse order; the log is closed last. The
// shutdown timeout bounds all of it: two seconds after it, a stop that hangs all the same
// is abandoned. A second signal ends the program at once. Neither waits for the log,
// which may block.
package xmain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/signals"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// Task runs beside the server, from the moment the service listens until ctx ends; ctx is
// the application's. A task that returns is done. One that panics, or calls xhook.Fail,
// ends the service in order with an error.
//
// A task that is a server of its own takes xhook.HoldReady as its first statement and
// releases it when it listens, and finishes its requests in xhook.OnShutdown: only after
// that does ctx end.
//
// The Runner passes nothing in extra: it is there for callers of a task's own.
type Task = func(ctx context.Context, extra ...any)

// SignalError says that a second signal has ended the program before its stop was
// complete.
type SignalError struct {
	// Signal is the second signal.
	Signal os.Signal
}

// Error implements error.
func (e *SignalError) Error() string {
	return fmt.Sprintf("xmain: stop abandoned after a second signal: %s", e.Signal)
}

// ExitCode returns 128 and the number of the signal, as a shell does.
func (e *SignalError) ExitCode() int { return signals.ExitCode(e.Signal) }

// exit ends the process.
var exit = os.Exit

// Runner is Run for a main function: it writes what went wrong to the log and ends the
// program with an exit code that is not 0: 1, or 128 and the signal's number after a
// second signal. It returns where nothing went wrong.
//
// Options given here equal options given to Register, except that the nodes of Register
// cannot see what they open.
func Runner(reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option, tasks ...Task) {
	r := newRunner(reg, log, tasks)
	err := r.run(context.Background(), opts,
		func(err error) { report.Problems(r.app, r.log, "", err) })
	if err == nil {
		return
	}
	code := 1
	if second, ok := errors.AsType[*SignalError](err); ok {
		code = second.ExitCode()
	}
	exit(code)
}

// Run serves reg until its stop is complete, closes it, and returns everything that went
// wrong. log may be nil.
func Run(reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option, tasks ...Task) error {
	return RunContext(context.Background(), reg, log, opts, tasks...)
}

// RunContext is Run; the stop also begins when ctx ends, which is not an error.
func RunContext(
	ctx context.Context, reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option,
	tasks ...Task,
) error {
	return newRunner(reg, log, tasks).run(ctx, opts, func(error) {})
}

// run lives one life; onError sees its error while the log is still open.
func (r *runner) run(ctx context.Context, opts []xoption.Option, onError func(error)) error {
	handler := func(s os.Signal, first bool) {
		if !first { // the first ends the context of the watch, which is enough
			r.abandon(&SignalError{Signal: s})
		}
	}
	stopRequested, watch := r.reg.StopRequested(), r.reg.Signals()
	if watch == nil {
		stopRequested, watch = signals.New(stopRequested, handler)
	} else {
		watch.Handle(handler)
	}
	defer watch.Stop()
	defer r.want(nil)
	defer r.stopAfter(ctx)()
	defer r.stopAfter(stopRequested)()
	defer context.AfterFunc(r.wanted, func() {
		time.AfterFunc(r.reg.Settings().ShutdownTimeout+signals.Grace,
			func() { r.abandon(errOvertime) })
	})()

	done := make(chan error, 1)
	go func() {
		err := r.live(opts)
		onError(err)
		// The nodes are closed already. Later lines go where they went before the start.
		done <- errors.Join(err, r.reg.Close(context.WithoutCancel(r.app)))
	}()
	select {
	case err := <-done:
		if r.abandoned.Err() == nil {
			return err
		}
	case <-r.abandoned.Done():
	}
	why := context.Cause(r.abandoned)
	report.Bounded(func() { // which may block
		r.cutOff(why)
		onError(why)
	})
	return why
}

// stopAfter makes the end of ctx a request to stop, until the function that it returns is
// called.
func (r *runner) stopAfter(ctx context.Context) (forget func() bool) {
	stop := func() { r.want(context.Cause(ctx)) }
	if ctx.Err() != nil {
		stop() // before anything else begins
	}
	return context.AfterFunc(ctx, stop)
}
