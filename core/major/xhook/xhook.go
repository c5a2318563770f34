// Package xhook manages the lifecycle of a service: hooks, state and health checks.
//
// A node, a plugin or a task registers its functions while the application starts:
//
//	xhook.OnStop(ctx, "mailer", mailer.Flush)
//	xhook.AddHealth(ctx, "mailer", mailer.Ping)
//
// ctx is the application's context or one derived from it. All functions and methods are
// safe for concurrent use.
//
// Startup runs the start hooks, starts the tasks, waits for the holds of HoldReady and
// runs the ready hooks. Shutdown runs the drain hooks first. The shutdown hooks then run
// while the HTTP server drains in-flight requests. After the tasks have returned, the
// stop hooks run.
package xhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/internal/guard"
	"github.com/plinthgo/plinth/core/internal/joined"
)

// Func is a hook. It should return soon after ctx is done.
type Func = func(ctx context.Context) error

// hook is a Func with a name for error messages.
type hook struct {
	name string
	run  Func
}

// phase is a step of the lifecycle in which hooks run.
type phase uint8

const (
	phaseStart phase = iota
	phaseReady
	phaseDrain
	phaseShutdown
	phaseStop
	phaseClose
	phases
)

// String returns the name of the phase for error messages.
func (p phase) String() string {
	return [...]string{
		"start hook", "ready hook", "drain hook", "shutdown hook", "stop hook", "close",
	}[p]
}

// Lifecycle contains the hooks, the state, the health checks and the failure of one
// application.
//
// For a nil *Lifecycle the OnX methods, AddHealth, HoldReady and Fail return false.
// Draining, Ready and Check return nil, and State returns StateStarting. All other
// methods panic.
type Lifecycle struct {
	mu     sync.Mutex // guards the fields below
	hooks  [phases][]hook
	done   [phases]bool
	checks []*check
	holds  []hold        // in the order of the HoldReady calls
	state  atomic.Uint32 // a State; requests read it without the lock

	ready    chan struct{}
	draining chan struct{}

	failure context.Context // canceled by the first Fail, with its error as the cause
	fail    context.CancelCauseFunc
}

// New returns a Lifecycle in StateStarting.
func New() *Lifecycle {
	l := &Lifecycle{ready: make(chan struct{}), draining: make(chan struct{})}
	l.failure, l.fail = context.WithCancelCause(context.Background())
	return l
}

// contextKey is the context key of the Lifecycle.
type contextKey struct{}

// NewContext returns a context that carries l.
func NewContext(ctx context.Context, l *Lifecycle) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the Lifecycle of ctx, or nil. A nil ctx is allowed.
func From(ctx context.Context) *Lifecycle {
	if ctx == nil {
		return nil
	}
	l, _ := ctx.Value(contextKey{}).(*Lifecycle)
	return l
}

// OnStart runs fn after the nodes have started and before the service listens. Hooks run
// in the order in which they were added. The first error aborts the startup.
//
// OnStart reports whether fn was added. It returns false if ctx belongs to no
// application, if fn is nil, or if all hooks of the same kind have run.
func OnStart(ctx context.Context, name string, fn Func) bool { return From(ctx).OnStart(name, fn) }

// OnReady runs fn after the service listens, its tasks have started and every hold of
// HoldReady is released, but before the service reports ready. The first error stops the
// service. OnReady returns false in the same cases as OnStart.
func OnReady(ctx context.Context, name string, fn Func) bool { return From(ctx).OnReady(name, fn) }

// OnDrain runs fn at the start of the shutdown, when the service reports not ready and
// still serves requests. All drain hooks run, even if some fail. OnDrain returns false in
// the same cases as OnStart.
func OnDrain(ctx context.Context, name string, fn Func) bool { return From(ctx).OnDrain(name, fn) }

// OnShutdown runs fn when the service stops accepting connections, after the drain delay.
// Use it for a server other than the HTTP server: fn stops accepting and drains its
// in-flight requests. All shutdown hooks run concurrently while the HTTP server drains,
// even if the service never became ready. Their errors are joined.
//
// The context of fn is canceled when requests are force-closed. fn must then force-close
// its own requests and return, but the shutdown does not wait for it. A hook that is
// still running at that time is an error, and the context of the tasks is canceled. Use
// Finish to return earlier. If force-closing takes time, the task should wait for it.
//
// OnShutdown returns false in the same cases as OnStart, and as soon as the shutdown
// hooks have started.
func OnShutdown(ctx context.Context, name string, fn Func) bool {
	return From(ctx).OnShutdown(name, fn)
}

// OnStop runs fn after all requests and tasks have finished and before the nodes are
// closed. All stop hooks run, in reverse order, even if some fail. OnStop returns false
// in the same cases as OnStart.
func OnStop(ctx context.Context, name string, fn Func) bool { return From(ctx).OnStop(name, fn) }

// Fail starts a graceful shutdown with a nonzero exit code. Use it in a task or an
// extension that cannot continue. It returns false and has no effect if ctx belongs to no
// application.
func Fail(ctx context.Context, err error) bool { return From(ctx).Fail(err) }

// Draining returns a channel that is closed when the shutdown starts. Use it in handlers
// of long streams. The channel is nil if ctx belongs to no application.
func Draining(ctx context.Context) <-chan struct{} { return From(ctx).Draining() }

// Ready returns a channel that is closed when the service becomes ready. It stays open
// if the startup fails or is interrupted. The channel is nil if ctx belongs to no
// application.
func Ready(ctx context.Context) <-chan struct{} { return From(ctx).Ready() }

// OnStart adds a start hook to l; see the package function.
func (l *Lifecycle) OnStart(name string, fn Func) bool { return l.add(phaseStart, name, fn) }

// OnReady adds a ready hook to l; see the package function.
func (l *Lifecycle) OnReady(name string, fn Func) bool { return l.add(phaseReady, name, fn) }

// OnDrain adds a drain hook to l; see the package function.
func (l *Lifecycle) OnDrain(name string, fn Func) bool { return l.add(phaseDrain, name, fn) }

// OnShutdown adds a shutdown hook to l; see the package function.
func (l *Lifecycle) OnShutdown(name string, fn Func) bool { return l.add(phaseShutdown, name, fn) }

// OnStop adds a stop hook to l; see the package function.
func (l *Lifecycle) OnStop(name string, fn Func) bool { return l.add(phaseStop, name, fn) }

// OnClose runs fn after the stop hooks, to close the component that name identifies.
// Close functions run in reverse order. OnClose is for code that runs an application,
// such as xreg. It returns false in the same cases as OnStart.
func (l *Lifecycle) OnClose(name string, fn Func) bool { return l.add(phaseClose, name, fn) }

func (l *Lifecycle) add(p phase, name string, fn Func) bool {
	if l == nil || fn == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done[p] {
		return false
	}
	l.hooks[p] = append(l.hooks[p], hook{name: name, run: fn})
	return true
}

// take removes and returns the next hook of a phase. If no hook is left, it marks the
// phase as done.
func (l *Lifecycle) take(p phase) (hook, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.hooks[p])
	if n == 0 {
		l.done[p] = true
		return hook{}, false
	}
	at := 0
	if p >= phaseStop {
		at = n - 1
	}
	h := l.hooks[p][at]
	l.hooks[p] = slices.Delete(l.hooks[p], at, at+1)
	return h, true
}

// Start runs the start hooks until one fails or ctx is done, and returns that error or
// the cause of ctx. Like the other methods that run hooks, it is for code that runs an
// application. A hook may add hooks to its own phase, except during Shutdown.
func (l *Lifecycle) Start(ctx context.Context) error { return l.run(ctx, phaseStart) }

// StartDrain sets StateDraining. The service no longer reports ready.
func (l *Lifecycle) StartDrain() { l.advance(StateDraining) }

// Drain calls StartDrain, runs all drain hooks and joins their errors.
func (l *Lifecycle) Drain(ctx context.Context) error {
	l.StartDrain()
	return l.run(ctx, phaseDrain)
}

// Stop sets StateStopped, runs all stop hooks and then all functions of OnClose in
// reverse order, and joins their errors. A second call runs no hooks.
func (l *Lifecycle) Stop(ctx context.Context) error {
	l.advance(StateStopped)
	return errors.Join(l.run(ctx, phaseStop), l.run(ctx, phaseClose))
}

// run runs the hooks of a phase sequentially. A startup phase stops at the first error or
// when ctx is done; a shutdown phase runs all hooks.
func (l *Lifecycle) run(ctx context.Context, p phase) error {
	starting := p < phaseDrain
	var errs []error
	for {
		if starting && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h, ok := l.take(p)
		if !ok {
			return errors.Join(errs...)
		}
		err := h.call(ctx, p)
		if err != nil && starting {
			return err
		}
		errs = append(errs, err)
	}
}

// call runs the hook and adds its name to the error. For a start hook, it adds the name
// to each of the joined errors, because a start reports one line for each problem. Other
// phases preserve the error, which may be the one that was passed to Fail.
func (h hook) call(ctx context.Context, p phase) error {
	err := guard.Call(ctx, h.run)
	if err == nil {
		return nil
	}
	if p != phaseStart {
		return fmt.Errorf("%s %q: %w", p, h.name, err)
	}
	var problems []error
	for _, problem := range joined.List(err) {
		problems = append(problems, fmt.Errorf("%s %q: %w", p, h.name, problem))
	}
	return errors.Join(problems...)
}

// PanicError is a recovered panic.
type PanicError = guard.PanicError

// Guard calls fn and returns a panic of fn as a *PanicError.
func Guard(fn func() error) error { return guard.Run(fn) }
