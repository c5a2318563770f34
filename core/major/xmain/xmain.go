// Package xmain serves an application until a stop is requested, and shuts it down
// gracefully.
//
//	func main() {
//		reg := xreg.Register(context.Background(), nodes, options...)
//		xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, worker)
//	}
//
// Startup runs the start hooks, listens, and starts the tasks. When every hold of
// xhook.HoldReady is released, it runs the ready hooks and reports ready.
//
// SIGTERM, SIGINT, SIGHUP, a failure, or the cancellation of the context passed to
// Register starts the shutdown, even before the service is ready:
//
//  1. The service reports not ready, runs the drain hooks, and continues to serve
//     requests during the drain delay.
//  2. It stops accepting connections and drains in-flight requests. Concurrently, the
//     shutdown hooks drain other servers.
//  3. The context of the tasks is canceled. The shutdown waits for the tasks.
//  4. Stop hooks run and nodes are closed, in reverse order. The log is closed last.
//
// The shutdown timeout covers all steps. A shutdown that is still running two seconds
// later is abandoned. A second signal exits immediately. In both cases the process exits
// even if the log blocks.
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

// Task runs concurrently with the server. It starts when the service listens and should
// return when ctx, the application's context, is canceled. A task can return early. A
// panic or a call of xhook.Fail shuts the service down gracefully with an error.
//
// A task that runs a server must call xhook.HoldReady as its first statement and release
// the hold when it listens. It must drain its requests in a hook of xhook.OnShutdown,
// because ctx is canceled only after that hook.
//
// The Runner passes no extra arguments.
type Task = func(ctx context.Context, extra ...any)

// SignalError is the error of a shutdown that a second signal interrupted.
type SignalError struct {
	// Signal is the second signal.
	Signal os.Signal
}

// Error implements error.
func (e *SignalError) Error() string {
	return fmt.Sprintf("xmain: shutdown abandoned after a second signal: %s", e.Signal)
}

// ExitCode returns 128 plus the signal number, as shells do.
func (e *SignalError) ExitCode() int { return signals.ExitCode(e.Signal) }

var exit = os.Exit

// Runner is like Run but logs every error and then exits the process. The exit code is 1,
// or 128 plus the signal number after a second signal. Without an error, Runner returns.
//
// The options have the same effect as options of Register, except that the nodes of
// Register cannot use the components that these options open.
func Runner(reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option, tasks ...Task) {
	r := newRunner(reg, log, tasks)
	err := r.run(context.Background(), opts,
		func(err error) { report.Problems(r.appCtx, r.log, "", err) })
	if err == nil {
		return
	}
	code := 1
	if second, ok := errors.AsType[*SignalError](err); ok {
		code = second.ExitCode()
	}
	exit(code)
}

// Run serves reg until the shutdown is complete, closes it, and joins all errors. If log
// is nil, Run uses a logger named MAIN.
func Run(reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option, tasks ...Task) error {
	return RunContext(context.Background(), reg, log, opts, tasks...)
}

// RunContext is like Run but also shuts down when ctx is done, which is not an error.
func RunContext(
	ctx context.Context, reg *xreg.Reg, log *xlog.LogNamedLogger, opts []xoption.Option,
	tasks ...Task,
) error {
	return newRunner(reg, log, tasks).run(ctx, opts, func(error) {})
}

// run runs the application. It passes the error to logError while the log is still open.
func (r *runner) run(ctx context.Context, opts []xoption.Option, logError func(error)) error {
	handler := func(s os.Signal, first bool) {
		if !first { // the first signal already cancels the context of the watch
			r.hardStop(&SignalError{Signal: s})
		}
	}
	stopRequested, watch := r.reg.StopRequested(), r.reg.Signals()
	if watch == nil {
		stopRequested, watch = signals.New(stopRequested, handler)
	} else {
		watch.Handle(handler)
	}
	defer watch.Stop()
	defer r.requestStop(nil)
	defer r.stopAfter(ctx)()
	defer r.stopAfter(stopRequested)()
	defer context.AfterFunc(r.stopCtx, func() {
		time.AfterFunc(r.reg.Settings().ShutdownTimeout+signals.Grace,
			func() { r.hardStop(errAbandoned) })
	})()

	done := make(chan error, 1)
	go func() {
		err := r.runLifecycle(opts)
		logError(err)
		// runLifecycle has closed the nodes. Close also restores the default logger.
		done <- errors.Join(err, r.reg.Close(context.WithoutCancel(r.appCtx)))
	}()
	select {
	case err := <-done:
		if r.hardStopCtx.Err() == nil {
			return err
		}
	case <-r.hardStopCtx.Done():
	}
	cause := context.Cause(r.hardStopCtx)
	report.Bounded(func() {
		r.forceClose(cause)
		logError(cause)
	})
	return cause
}

// stopAfter requests a stop when ctx is done. The returned function cancels this.
func (r *runner) stopAfter(ctx context.Context) (cancel func() bool) {
	stop := func() { r.requestStop(context.Cause(ctx)) }
	if ctx.Err() != nil {
		stop() // synchronously, before the startup
	}
	return context.AfterFunc(ctx, stop)
}
