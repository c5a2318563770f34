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

// runner is one life of an application.
type runner struct {
	reg   *xreg.Reg
	life  *xhook.Lifecycle
	log   *xlog.LogNamedLogger
	app   context.Context // the application's, for hooks and log lines
	tasks []Task

	wanted context.Context // the application's; it ends when a signal or a caller wants the stop
	want   context.CancelCauseFunc

	// ends with a second signal or by the watchdog: nothing is waited for any longer
	abandoned context.Context
	abandon   context.CancelCauseFunc

	requests       context.Context // the base of every request's context
	cancelRequests context.CancelCauseFunc
	traffic        *traffic
	handler        http.Handler

	listener *listener
	running  sync.WaitGroup // tasks, and Serve
}

func newRunner(reg *xreg.Reg, log *xlog.LogNamedLogger, tasks []Task) *runner {
	log = cmp.Or(log, xlog.WithName(xlog.NamedMAIN))
	r := &runner{
		reg: reg, life: reg.Life(), log: log, app: reg.Init.Ctx, tasks: tasks,
		traffic: newTraffic(),
	}
	r.wanted, r.want = context.WithCancelCause(r.app)
	r.requests, r.cancelRequests = context.WithCancelCause(context.WithoutCancel(reg.Init.Ctx))
	r.abandoned, r.abandon = context.WithCancelCause(context.WithoutCancel(reg.Init.Ctx))
	return r
}

// live starts, serves until the stop is wanted, and stops.
func (r *runner) live(opts []xoption.Option) error {
	began := time.Now()
	err := r.start(opts, began)
	if r.wanted.Err() != nil &&
		(errors.Is(err, context.Cause(r.wanted)) || errors.Is(err, context.Canceled)) {
		r.log.Notice(r.app, "start given up", slog.String("reason", err.Error()))
		err = nil // what the stop interrupts has not failed
	}
	reason := "the start failed"
	if err == nil {
		reason, err = r.wait()
	}
	r.want(errStopping) // which starts the watchdog
	r.log.Notice(r.app, "stopping", slog.String("reason", reason))
	began = time.Now()
	err = errors.Join(err, r.stop())
	if failure := r.life.Err(); failure != nil && !errors.Is(err, failure) {
		err = errors.Join(failure, err)
	}
	r.log.Notice(r.app, "stopped", slog.Duration("took", time.Since(began)))
	return err
}

// errStopping is the cause of a stop that neither a signal nor a caller has begun.
var errStopping = errors.New("the application fails")

// start takes the application to the point at which it reports ready.
func (r *runner) start(opts []xoption.Option, began time.Time) error {
	if err := r.reg.Apply(opts...); err != nil {
		return err
	}
	for i, task := range r.tasks {
		if task == nil {
			return fmt.Errorf("xmain: task %d is nil", i+1)
		}
	}
	if err := r.life.Start(r.wanted); err != nil {
		return r.panics("start", err)
	}
	l, err := listen(r.wanted, r.reg.Settings())
	if err != nil {
		return err
	}
	r.listener = l               // from here on it is served: the stop waits for its connections
	banner := r.banner(l.Addr()) // the first request changes what it reads the routes from
	r.serve(l)
	r.runTasks()
	if err := r.life.Ready(r.wanted); err != nil {
		if errors.Is(err, r.life.Err()) {
			return err // whoever failed has logged its stack
		}
		return r.panics("ready", err)
	}
	r.announce(l.Addr(), banner, time.Since(began))
	return nil
}

// serve answers requests on l, in the background.
func (r *runner) serve(l *listener) {
	r.handler = r.reg.Serve.Handler()
	settings := r.reg.Settings()
	server := settings.Server
	for _, change := range settings.ChangeServer {
		change(server)
	}
	server.Handler = http.HandlerFunc(r.answer)
	server.BaseContext = func(net.Listener) context.Context { return r.requests }
	server.ErrorLog = slog.NewLogLogger(boundHandler{
		xlog.WithName(xlog.NamedHTTP).Slog().Handler(),
		r.app,
	}, slog.LevelWarn)
	r.traffic.watch(server)
	r.running.Go(func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			r.life.Fail(fmt.Errorf("xmain: serve: %w", err))
		}
	})
}

// answer answers one request. While the service drains, clients are told to close their
// connections, so that none of them is about to send when the connection closes.
func (r *runner) answer(w http.ResponseWriter, req *http.Request) {
	conn := connectionOf(req)
	req, q := r.traffic.enter(conn, req)
	defer r.traffic.leave(conn, q)
	if r.life.State() >= xhook.StateDraining {
		w.Header().Set("Connection", "close")
	}
	r.handler.ServeHTTP(w, req)
}

// panics logs the stacks of panics and returns err.
func (r *runner) panics(part string, err error) error {
	return report.Panics(r.app, r.log, part, err)
}

// wait returns when the stop is wanted, and why.
func (r *runner) wait() (reason string, err error) {
	select {
	case <-r.wanted.Done():
		return context.Cause(r.wanted).Error(), nil
	case <-r.life.Failed():
		return "failure", r.life.Err()
	}
}

// boundHandler writes its records as the application's, whatever context they come with.
type boundHandler struct {
	slog.Handler
	app context.Context // net/http logs without a context
}

// Handle implements slog.Handler.
func (h boundHandler) Handle(_ context.Context, record slog.Record) error {
	return h.Handler.Handle(h.app, record)
}
