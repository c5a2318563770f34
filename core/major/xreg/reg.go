// Package xreg starts an application: environment, logs, database, cache, leases, id
// node, the database's schema, the application's nodes, engine, routes.
//
//	reg := xreg.Register(ctx, nodes, xoption.WithRoute(routes))
//	xmain.Runner(reg, log, nil)
//
// Every wrong setting is reported before anything is opened, all of them at once. What
// was opened is closed again, in reverse order, when a later part of the start fails.
package xreg

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/signals"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// Init holds what the start has made.
type Init struct {
	// Ctx is the application's context: it carries the values of all nodes, the
	// life-cycle hooks and the logger. It is cancelled when the tasks are told to end,
	// not when the stop begins.
	Ctx context.Context // the contract's name for the application's context
}

// Reg is an application that has started. Its methods are safe for concurrent use.
type Reg struct {
	// Serve is the engine. Routes may be added until the Runner serves it.
	Serve *gin.Engine
	// Init holds what the start has made.
	Init Init

	parent context.Context // its end is a wish to stop, asked for by the Runner
	watch  *signals.Watch  // nil after New
	// the name of the step that is being started, nil when the start has succeeded
	step     atomic.Pointer[string]
	cancel   context.CancelCauseFunc
	closeLog func() error // set before the start returns
	life     *xhook.Lifecycle
	nodes    *xregnode.Nodes
	bare     *gin.RouterGroup // routes without middleware
	serve    atomic.Pointer[gin.HandlerFunc]
	// what each node was at the last check, by name: "" for well, degraded, or
	// unavailable
	health sync.Map

	settings atomic.Pointer[startup.Settings]
	parts    atomic.Pointer[[]Part]

	// held while nodes start or close, whose code may ask for settings and parts
	mu      sync.Mutex
	changes []func(*startup.Settings) // of all options so far
	closing []any                     // the values that are closed at the stop
	closed  bool
}

// closeTimeout bounds the close after a start that failed.
const closeTimeout = 3 * time.Second

// errClosed is the error of Apply after Close.
var errClosed = errors.New("xreg: the application is closed")

// New starts an application and returns it, or everything that is wrong with it: the
// error joins one error for each problem. ctx bounds the start; when it ends later, the
// Runner begins its stop.
//
// The start ends with the routes. Hooks, listener and tasks belong to xmain.
func New(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) (*Reg, error) {
	r := newReg()
	if err := r.begin(ctx, nodes, opts); err != nil {
		return nil, errors.Join(err, r.giveUp(), r.closeLog())
	}
	return r, nil
}

// newReg returns an application whose start has not begun. Its settings are those of the
// environment.
func newReg() *Reg {
	r := &Reg{life: xhook.New(), nodes: &xregnode.Nodes{}, closeLog: func() error { return nil }}
	r.step.Store(new("settings"))
	r.settings.Store(r.newSettings())
	r.parts.Store(&[]Part{})
	return r
}

// begin starts r. If it fails, the caller reports the error and then calls giveUp and
// closeLog.
func (r *Reg) begin(ctx context.Context, nodes []xregnode.Node, opts []xoption.Option) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parent = ctx
	plan := &startup.Plan{Nodes: slices.Clone(nodes)}
	xoption.WithOptions(opts...)(plan)
	app, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.cancel = cancel
	r.Init.Ctx = xhook.NewContext(xregnode.NewContext(app, r.nodes), r.life)
	if plan.Logger != nil {
		r.Init.Ctx = xlog.NewContext(r.Init.Ctx, plan.Logger)
	}
	r.newEngine()

	giveUp := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	err := r.carryOut(plan) // in the application's context, made of ctx
	if !giveUp() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		r.step.Store(nil)
	}
	return err
}

// giveUp closes what a start that failed has opened, apart from the log. The watch goes
// on: until the exit a signal must not kill the process.
func (r *Reg) giveUp() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Init.Ctx), closeTimeout)
	defer cancel()
	return r.CloseNodes(ctx)
}

// Apply carries out the options of a Runner as if they had been given to New, except that
// what they open starts after the nodes that have already started. The ID node and an
// open database or cache stay as they are. If Apply fails, the caller must close the
// application.
func (r *Reg) Apply(opts ...xoption.Option) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return errClosed
	}
	if len(opts) == 0 {
		return nil
	}
	defer r.step.Store(nil) // the start is over
	late := &startup.Plan{Late: true, Settings: r.changes}
	xoption.WithOptions(opts...)(late)
	return r.carryOut(late)
}

// carryOut is the start: it checks everything that p asks for, and if nothing is wrong it
// starts that.
func (r *Reg) carryOut(p *startup.Plan) error {
	var problems error
	if !p.Late {
		problems = errors.Join(loadEnvFiles(p), xenv.Apply(p.EnvDefaults), r.openLog(p))
		for _, line := range xenv.Misspelled() { // perhaps the cause of a problem below
			initLog.Warn(r.Init.Ctx, line)
		}
	}
	r.changes = p.Settings
	settings := r.newSettings()
	r.settings.Store(settings)
	r.nodes.Set(xctx.DebugKey, settings.Serve.Debug)
	steps, wrong := r.steps(p)
	if err := errors.Join(problems, p.Problems, xenv.Validate(), check(settings),
		wrong); err != nil {
		return report.Distinct(err)
	}
	if len(p.Mappers) > 0 {
		remove := xerror.RegisterApplicationMapper(p.Mappers...)
		r.life.OnClose("error mappers", func(context.Context) error { remove(); return nil })
	}
	for _, s := range steps {
		if err := r.startOne(s); err != nil {
			return err
		}
	}
	r.step.Store(new("routes"))
	return r.panics("routes", xhook.Guard(func() error { r.build(p); return nil }))
}

// Signals returns what catches signals, for the Runner, which must stop it; nil after
// New.
func (r *Reg) Signals() *signals.Watch { return r.watch }

// Settings returns what options and environment say about serving and stopping.
func (r *Reg) Settings() startup.Settings { return *r.settings.Load() }

// Parts returns the parts of the framework that have started, in order.
func (r *Reg) Parts() []Part { return slices.Clone(*r.parts.Load()) }

// Life returns the application's life-cycle hooks.
func (r *Reg) Life() *xhook.Lifecycle { return r.life }

// StopRequested returns a context that ends with the one that was given to New, or to
// Register, and then also with a signal: a request to stop, for the Runner.
func (r *Reg) StopRequested() context.Context { return r.parent }

// Cancel ends the application's context. Close does so too.
func (r *Reg) Cancel() { r.cancel(context.Canceled) }

// Close runs the shutdown hooks that have not run yet, ends the application's context,
// runs the stop hooks, closes the nodes in reverse order and the log last. ctx bounds it.
// A second call does nothing: it returns the error of the log, if any.
func (r *Reg) Close(ctx context.Context) error {
	err := r.CloseNodes(ctx)
	r.watch.Stop()
	return errors.Join(err, r.closeLog())
}

// CloseNodes is Close without the log, in which the error can still be written.
func (r *Reg) CloseNodes(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.life.Shutdown(ctx)
	r.Cancel()
	return r.panics("stop", errors.Join(err, r.life.Stop(ctx)))
}
