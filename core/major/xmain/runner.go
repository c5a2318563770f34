package xmain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// runner runs one application from startup to shutdown.
type runner struct {
	reg       *xreg.Reg
	lifecycle *xhook.Lifecycle
	log       *xlog.LogNamedLogger
	appCtx    context.Context // the application's context, for hooks and log lines
	tasks     []Task

	stopCtx     context.Context // child of appCtx, also canceled by requestStop
	requestStop context.CancelCauseFunc

	// canceled by a second signal or the watchdog; nothing waits after that
	hardStopCtx context.Context
	hardStop    context.CancelCauseFunc

	requestCtx     context.Context // parent of every request's context
	cancelRequests context.CancelCauseFunc
	traffic        *traffic
	handler        http.Handler

	listener *listener
	running  sync.WaitGroup // tasks and Serve
}

func newRunner(reg *xreg.Reg, log *xlog.LogNamedLogger, tasks []Task) *runner {
	log = cmp.Or(log, xlog.WithName(xlog.NamedMAIN))
	r := &runner{
		reg: reg, lifecycle: reg.Lifecycle(), log: log, appCtx: reg.Init.Ctx, tasks: tasks,
		traffic: newTraffic(),
	}
	r.stopCtx, r.requestStop = context.WithCancelCause(r.appCtx)
	r.requestCtx, r.cancelRequests = context.WithCancelCause(context.WithoutCancel(reg.Init.Ctx))
	r.hardStopCtx, r.hardStop = context.WithCancelCause(context.WithoutCancel(reg.Init.Ctx))
	return r
}

// runLifecycle starts the application, serves until a stop is requested, and stops it.
func (r *runner) runLifecycle(opts []xoption.Option) error {
	start := time.Now()
	err := r.start(opts, start)
	if r.stopCtx.Err() != nil &&
		(errors.Is(err, context.Cause(r.stopCtx)) || errors.Is(err, context.Canceled)) {
		r.log.Notice(r.appCtx, "start aborted", slog.String("reason", err.Error()))
		err = nil // an interrupted startup is not a failure
	}
	reason := "start failed"
	if err == nil {
		reason, err = r.awaitStop()
	}
	r.requestStop(errFailed) // also starts the watchdog
	r.log.Notice(r.appCtx, "stopping", slog.String("reason", reason))
	start = time.Now()
	err = errors.Join(err, r.stop())
	if failure := r.lifecycle.Err(); failure != nil && !errors.Is(err, failure) {
		err = errors.Join(failure, err)
	}
	r.log.Notice(r.appCtx, "stopped", slog.Duration("took", time.Since(start)))
	return err
}

// errFailed is the cause of a shutdown after a failure.
var errFailed = errors.New("the application failed")

// start brings the application to the ready state.
func (r *runner) start(opts []xoption.Option, startTime time.Time) error {
	if err := r.reg.Apply(opts...); err != nil {
		return err
	}
	for i, task := range r.tasks {
		if task == nil {
			return fmt.Errorf("xmain: task %d is nil", i+1)
		}
	}
	if err := r.lifecycle.Start(r.stopCtx); err != nil {
		return r.logPanics("start", err)
	}
	l, err := listen(r.stopCtx, r.reg.Settings())
	if err != nil {
		return err
	}
	r.listener = l               // stop must drain it from now on
	banner := r.banner(l.Addr()) // reads the routes, so it must precede the first request
	r.serve(l)
	r.runTasks()
	if err := r.lifecycle.SetReady(r.stopCtx); err != nil {
		if errors.Is(err, r.lifecycle.Err()) {
			return err // Fail's caller has already logged the stack
		}
		return r.logPanics("ready", err)
	}
	r.logReady(l.Addr(), banner, time.Since(startTime))
	return nil
}

// serve starts serving requests on l in the background.
func (r *runner) serve(l *listener) {
	r.handler = r.reg.Serve.Handler()
	settings := r.reg.Settings()
	server := settings.Server
	for _, change := range settings.ChangeServer {
		change(server)
	}
	server.Handler = http.HandlerFunc(r.handle)
	server.BaseContext = func(net.Listener) context.Context { return r.requestCtx }
	server.ErrorLog = slog.NewLogLogger(contextHandler{
		xlog.WithName(xlog.NamedHTTP).Slog().Handler(),
		r.appCtx,
	}, slog.LevelWarn)
	r.traffic.trackConnections(server)
	r.running.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.lifecycle.Fail(fmt.Errorf("xmain: serve: %w", err))
		}
	})
}

// handle serves one request. During the shutdown it tells clients to close their
// connections, so that no client sends a request on a connection that is about to close.
func (r *runner) handle(w http.ResponseWriter, req *http.Request) {
	conn := connectionOf(req)
	req, tracked := r.traffic.enter(conn, req)
	defer r.traffic.leave(conn, tracked)
	if r.lifecycle.State() >= xhook.StateDraining {
		w.Header().Set("Connection", "close")
	}
	r.handler.ServeHTTP(w, req)
}

// logPanics logs the stacks of panics and returns err.
func (r *runner) logPanics(part string, err error) error {
	return report.Panics(r.appCtx, r.log, part, err)
}

// awaitStop waits for a stop request or a failure and returns its reason.
func (r *runner) awaitStop() (reason string, err error) {
	select {
	case <-r.stopCtx.Done():
		return context.Cause(r.stopCtx).Error(), nil
	case <-r.lifecycle.Failed():
		return "failure", r.lifecycle.Err()
	}
}

// contextHandler replaces the context of each record, because net/http logs without one.
type contextHandler struct {
	slog.Handler
	appCtx context.Context
}

// Handle implements slog.Handler.
func (h contextHandler) Handle(_ context.Context, record slog.Record) error {
	return h.Handler.Handle(h.appCtx, record)
}
