// Package xreg starts an application: environment, logs, database, cache, leases, id node, the database's schema, the
// application's nodes, engine, routes.
//
//	reg := xreg.Register(ctx, nodes, xoption.WithRoute(routes))
//	xmain.Runner(reg, log, nil)
//
// Every wrong setting is reported before anything is opened, all of them at once. What was opened is closed again,
// in reverse order, when a later part of the start fails.
package xreg

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/problem"
	"github.com/plinthgo/plinth/core/major/internal/signals"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// Init holds what the start has made.
type Init struct {
	// Ctx is the application's context: it carries the values of all nodes, the life-cycle hooks and the logger. It is
	// cancelled when the tasks are told to end, not when the stop begins.
	Ctx context.Context // the contract's name for the application's context
}

// Reg is an application that has started. Its methods are safe for concurrent use.
type Reg struct {
	// Serve is the engine. Routes may be added until the Runner serves it.
	Serve *gin.Engine
	// Init holds what the start has made.
	Init Init

	parent context.Context        // its end is a wish to stop, asked for by the Runner
	watch  *signals.Watch         // nil after New
	step   atomic.Pointer[string] // the name of the step that is being started, nil when the start has succeeded
	cancel context.CancelCauseFunc
	life   *xhook.Lifecycle
	nodes  *xregnode.Nodes
	bare   *gin.RouterGroup // routes without middleware
	serve  atomic.Pointer[gin.HandlerFunc]
	public atomic.Pointer[public]

	mu       sync.Mutex // held while nodes start or close, whose code may ask for what is public
	plan     *startup.Plan
	settings settings
	parts    []Part
	opened   []opened
	logClose func() error // nil if there is no log to close
	unmap    []func()
	closed   bool
}

// public is what anyone may ask for at any time.
type public struct {
	settings settings
	parts    []Part
}

// publish makes the plan's settings, and what has started, public. The debug mode goes to the application's context too.
func (r *Reg) publish() {
	r.nodes.Set(xctx.DebugKey, r.settings.Debug)
	r.public.Store(&public{settings: r.settings, parts: slices.Clone(r.parts)})
}

// closeTimeout bounds the close after a start that failed.
const closeTimeout = 3 * time.Second

// errClosed is the error of Apply after Close.
var errClosed = errors.New("xreg: the application is closed")

// New starts an application and returns it, or everything that is wrong with it: the error joins one error for each
// problem. ctx bounds the start; when it ends later, the Runner begins its stop.
//
// The start ends with the routes. Hooks, listener and tasks belong to xmain.
func New(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) (*Reg, error) {
	r := newReg()
	if err := r.begin(ctx, nodes, opts, func(context.Context, error) {}); err != nil {
		return nil, err
	}
	return r, nil
}

// newReg returns an application whose start has not begun. Its settings are those of the environment.
func newReg() *Reg {
	r := &Reg{life: xhook.New(), nodes: &xregnode.Nodes{}}
	r.enter("settings")
	r.public.Store(&public{settings: newSettings(&startup.Plan{})})
	return r
}

// enter notes which step of the start comes next.
func (r *Reg) enter(step string) { r.step.Store(&step) }

// begin starts r; report sees the errors while the log is still open.
func (r *Reg) begin(
	ctx context.Context, nodes []xregnode.Node, opts []xoption.Option, report func(context.Context, error),
) error {
	r.parent = ctx
	r.plan = &startup.Plan{Nodes: slices.Clone(nodes)}
	leasesPhase(r.plan)
	snowflakePhase(r.plan)
	xoption.WithOptions(opts...)(r.plan)
	app, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	app = xhook.NewContext(xregnode.NewContext(app, r.nodes), r.life)
	if r.plan.Logger != nil {
		app = xlog.NewContext(app, r.plan.Logger)
	}
	r.Init = Init{Ctx: app}
	r.cancel = cancel
	r.newEngine()

	giveUp := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	err := r.firstPlan() // the application's context, made of ctx
	if !giveUp() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		r.step.Store(nil)
		return nil
	}
	closing, stop := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer stop()
	report(app, err)
	closeErr := r.CloseNodes(closing)
	report(app, closeErr)
	return errors.Join(err, closeErr, r.closeLog()) // the watch goes on: until the exit a signal must not kill
}

// firstPlan carries out the whole plan.
func (r *Reg) firstPlan() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.carryOut(r.plan, loadEnv(r.plan))
}

// Apply carries out the options of a Runner as if they had been given to New, except that what they
// open starts after the nodes that have already started. The ID node and an open database or cache
// stay as they are. If Apply fails, the caller must close the application.
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
	late := &startup.Plan{Late: true}
	xoption.WithOptions(opts...)(late)
	for _, phase := range late.Phases {
		if _, open := r.nodes.Get(phase.Key); open {
			late.Problem(fmt.Errorf("xreg: the %s is open already: give all of its options to Register", phase.Name))
		}
	}
	xoption.WithOptions(opts...)(r.plan) // its settings are those of all options; late has what to open
	if _, leased := r.nodes.Get(xctx.LeasesKey); !leased {
		leasesPhase(late)
	}
	return r.carryOut(late, nil)
}

// carryOut starts what p asks for, unless anything is wrong with it or problems were found already.
func (r *Reg) carryOut(p *startup.Plan, problems error) error {
	r.settings = newSettings(r.plan)
	r.publish()
	defer r.publish()
	if p == r.plan {
		problems = errors.Join(problems, r.openLog())
		for _, line := range xenv.Misspelled() { // perhaps the cause of a problem below
			initLog.Warn(r.Init.Ctx, line)
		}
	}
	if err := problem.Distinct(errors.Join(problems, r.check(p))); err != nil {
		return err
	}
	if len(p.Mappers) > 0 {
		r.unmap = append(r.unmap, xerror.RegisterApplicationMapper(p.Mappers...))
	}
	if err := r.start(steps(p)); err != nil {
		return err
	}
	r.enter("routes")
	err := xhook.Guard(func() error { return r.build(p) })
	logPanic(r.Init.Ctx, "routes", err)
	return err
}

// check returns every problem of the settings, and of what p asks to start.
func (r *Reg) check(p *startup.Plan) error {
	errs := []error{p.Problems(), xenv.Validate()}
	for _, s := range steps(p) {
		if s.Check == nil {
			continue
		}
		err := xhook.Guard(func() error { return s.Check(r.Init.Ctx) })
		if logPanic(r.Init.Ctx, s.Name, err) {
			err = fmt.Errorf("%s: check: %w", s.Name, err)
		}
		errs = append(errs, err)
	}
	serve, wrongURLs := r.serveConfig(), r.settings.checkExcludeURLs()
	if wrongURLs != nil {
		serve.ExcludeURLs = nil // of which Check does not know the variable
	}
	return errors.Join(append(errs, r.settings.check(), wrongURLs, serve.Check(), r.nodes.Check(p.Nodes))...)
}

// Signals returns what catches signals, for the Runner, which must stop it; nil after New.
func (r *Reg) Signals() *signals.Watch { return r.watch }

// Settings returns what options and environment say about serving and stopping.
func (r *Reg) Settings() startup.Settings { return r.public.Load().settings.Settings }

// Server returns a new HTTP server for Serve, with the limits of options and environment. It has no handler yet.
func (r *Reg) Server() *http.Server { return r.public.Load().settings.server() }

// Parts returns the parts of the framework that have started, in order.
func (r *Reg) Parts() []Part { return slices.Clone(r.public.Load().parts) }

// Life returns the application's life-cycle hooks.
func (r *Reg) Life() *xhook.Lifecycle { return r.life }

// StopRequested returns a context that ends with the one that was given to New, or to Register, and then also with a
// signal: a request to stop, for the Runner.
func (r *Reg) StopRequested() context.Context { return r.parent }

// Cancel ends the application's context. Close does so too.
func (r *Reg) Cancel() { r.cancel(context.Canceled) }

// Close runs the shutdown hooks that have not run yet, ends the application's context, runs the stop hooks, closes the nodes
// in reverse order and the log last. ctx bounds it. The second call does nothing.
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
	err = errors.Join(err, r.life.Stop(ctx))
	for _, one := range problem.List(err) {
		logPanic(r.Init.Ctx, "hook", one) // the log of the application
	}
	err = errors.Join(err, r.closeOpened(ctx))
	for _, remove := range r.unmap {
		remove()
	}
	return err
}
