// Package xreg starts an application: environment, logs, database, cache, leases, ID
// node, database schema, nodes, engine and routes.
//
//	reg := xreg.Register(ctx, nodes, xoption.WithRoute(routes))
//	xmain.Runner(reg, log, nil)
//
// All configuration errors are reported together before anything is opened. If a later
// step fails, everything that was opened is closed in reverse order.
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

// Init contains the results of the startup.
type Init struct {
	// Ctx is the application's context. It carries the values of all nodes, the lifecycle
	// and the logger. It is canceled when the tasks must return, after requests have
	// drained.
	Ctx context.Context // the specification requires this name
}

// Reg is a started application. Its methods are safe for concurrent use.
type Reg struct {
	// Serve is the engine. Routes may be added until the Runner serves it.
	Serve *gin.Engine
	// Init contains the results of the startup.
	Init Init

	parent context.Context // its cancellation is a stop request, which the Runner handles
	watch  *signals.Watch  // nil after New
	// name of the current startup step; nil after a successful startup
	step      atomic.Pointer[string]
	cancel    context.CancelCauseFunc
	closeLog  func() error // set before the startup returns
	lifecycle *xhook.Lifecycle
	nodes     *xregnode.Nodes
	bare      *gin.RouterGroup // routes without middleware
	serve     atomic.Pointer[gin.HandlerFunc]
	// state of each node at its last check, by name: "" if healthy
	health sync.Map

	settings atomic.Pointer[startup.Settings]
	parts    atomic.Pointer[[]Part]

	// mu is locked while nodes start or close. Nodes may call Settings and Parts, which
	// therefore do not lock it.
	mu      sync.Mutex
	changes []func(*startup.Settings) // of all options so far
	closing []any                     // values to close
	closed  bool
}

// closeTimeout is the timeout for closing after a failed startup.
const closeTimeout = 3 * time.Second

// errClosed is returned by Apply after Close.
var errClosed = errors.New("xreg: the application is closed")

// New starts an application. The error joins one error for each problem. ctx limits the
// startup. If it is canceled later, the Runner starts the shutdown.
//
// The startup includes the routes. Package xmain runs the hooks, the listener and the
// tasks.
func New(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) (*Reg, error) {
	r := newReg()
	if err := r.start(ctx, nodes, opts); err != nil {
		return nil, errors.Join(err, r.closeStarted(), r.closeLog())
	}
	return r, nil
}

// newReg returns an application that has not started. Its settings are those of the
// environment.
func newReg() *Reg {
	r := &Reg{
		lifecycle: xhook.New(), nodes: &xregnode.Nodes{},
		closeLog: func() error { return nil },
	}
	r.step.Store(new("settings"))
	r.settings.Store(r.newSettings())
	r.parts.Store(&[]Part{})
	return r
}

// start starts r. If it fails, the caller must report the error and then call
// closeStarted and closeLog.
func (r *Reg) start(ctx context.Context, nodes []xregnode.Node, opts []xoption.Option) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parent = ctx
	plan := &startup.Plan{Nodes: slices.Clone(nodes)}
	xoption.WithOptions(opts...)(plan)
	app, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.cancel = cancel
	r.Init.Ctx = xhook.NewContext(xregnode.NewContext(app, r.nodes), r.lifecycle)
	if plan.Logger != nil {
		r.Init.Ctx = xlog.NewContext(r.Init.Ctx, plan.Logger)
	}
	r.newEngine()

	stopCancel := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	err := r.apply(plan) // uses the application's context, which is derived from ctx
	if !stopCancel() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		r.step.Store(nil)
	}
	return err
}

// closeStarted closes the components that a failed startup has opened, except for the
// log. It does not stop the signal watch, so that a signal does not kill the process
// during the close.
func (r *Reg) closeStarted() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Init.Ctx), closeTimeout)
	defer cancel()
	return r.CloseNodes(ctx)
}

// Apply applies the options of a Runner as if they were passed to New. The components
// that they add start after the nodes that have already started. The ID node and an open
// database or cache remain unchanged. If Apply fails, the caller must close the
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
	defer r.step.Store(nil) // the startup has finished
	late := &startup.Plan{Late: true, Settings: r.changes}
	xoption.WithOptions(opts...)(late)
	return r.apply(late)
}

// apply checks everything that p configures, and starts it if there is no problem.
func (r *Reg) apply(p *startup.Plan) error {
	if p.Inspect != nil {
		return r.inspect(p)
	}
	if err := checkInspect(); err != nil {
		return err
	}
	var problems error
	if !p.Late {
		problems = errors.Join(loadEnvFiles(p), xenv.Apply(p.EnvDefaults), r.openLog(p))
		for _, line := range xenv.Misspelled() { // a possible cause of the problems below
			initLog.Warn(r.Init.Ctx, line)
		}
	}
	r.changes = p.Settings
	settings := r.newSettings()
	r.settings.Store(settings)
	r.nodes.Set(xctx.DebugKey, settings.Serve.Debug)
	steps, stepProblems := r.steps(p)
	if err := errors.Join(problems, p.Problems, xenv.Validate(), check(settings),
		stepProblems); err != nil {
		return report.Distinct(err)
	}
	if len(p.Mappers) > 0 {
		remove := xerror.RegisterApplicationMapper(p.Mappers...)
		r.lifecycle.OnClose("error mappers", func(context.Context) error { remove(); return nil })
	}
	for _, s := range steps {
		if err := r.startOne(s); err != nil {
			return err
		}
	}
	r.step.Store(new("routes"))
	return r.logPanics("routes", xhook.Guard(func() error { return r.build(p) }))
}

// Signals returns the signal watch, which the Runner must stop. It returns nil after New.
func (r *Reg) Signals() *signals.Watch { return r.watch }

// Settings returns the settings for serving and stopping.
func (r *Reg) Settings() startup.Settings { return *r.settings.Load() }

// Parts returns the started components of the framework, in order.
func (r *Reg) Parts() []Part { return slices.Clone(*r.parts.Load()) }

// Lifecycle returns the application's lifecycle.
func (r *Reg) Lifecycle() *xhook.Lifecycle { return r.lifecycle }

// StopRequested returns a context that is canceled with the context passed to New or
// Register. If Register started the application, the first signal cancels it too.
func (r *Reg) StopRequested() context.Context { return r.parent }

// Cancel cancels the application's context. Close calls it too.
func (r *Reg) Cancel() { r.cancel(context.Canceled) }

// Close runs the shutdown hooks that have not run yet and cancels the application's
// context. It then runs the stop hooks, closes the nodes in reverse order and closes the
// log. ctx limits the hooks and the nodes. A second call only returns the error of the
// log.
func (r *Reg) Close(ctx context.Context) error {
	err := r.CloseNodes(ctx)
	r.watch.Stop()
	return errors.Join(err, r.closeLog())
}

// CloseNodes is like Close but leaves the log open, so that the caller can log the error.
func (r *Reg) CloseNodes(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.lifecycle.Shutdown(ctx)
	r.Cancel()
	return r.logPanics("stop", errors.Join(err, r.lifecycle.Stop(ctx)))
}
