// Package xhook holds the hooks of a service's life, its state and its health.
//
// A node, a plugin or a task asks for its turn while the application starts:
//
//	xhook.OnStop(ctx, "mailer", mailer.Flush)
//	xhook.AddHealth(ctx, "mailer", mailer.Ping)
//
// The context is the application's, or one derived from it. Everything here is safe for
// concurrent use.
//
// A life begins with start hooks, tasks, holds and ready hooks. It ends in this order:
// drain hooks; shutdown hooks and the requests in flight, all at the same time; tasks;
// stop hooks.
package xhook

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/internal/guard"
)

// Func is one hook. It should return soon after its context ends.
type Func = func(ctx context.Context) error

// hook is a Func with the name that its errors carry.
type hook struct {
	name string
	run  Func
}

// phase is one of the moments at which hooks run.
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

// String returns the phase's name, for errors.
func (p phase) String() string {
	return [...]string{
		"start hook", "ready hook", "drain hook", "shutdown hook", "stop hook",
		"close of",
	}[p]
}

// Lifecycle is the life of one application: its hooks, its state, its health checks and
// the error that ends it early. A nil *Lifecycle keeps nothing: its OnX methods,
// AddHealth, HoldReady and Fail return false, the channels of Draining and Readied are
// nil, it is starting and has no health. It cannot be run.
type Lifecycle struct {
	mu     sync.Mutex // held while the following fields change
	hooks  [phases][]hook
	done   [phases]bool
	checks []*check
	holds  []hold        // of the readiness, in the order in which they were taken
	state  atomic.Uint32 // a State, which requests read

	readied  chan struct{}
	draining chan struct{}

	failure context.Context // ends with the first Fail, whose error is its cause
	fail    context.CancelCauseFunc
}

// New returns a life that is starting.
func New() *Lifecycle {
	l := &Lifecycle{readied: make(chan struct{}), draining: make(chan struct{})}
	l.failure, l.fail = context.WithCancelCause(context.Background())
	return l
}

// contextKey finds the Lifecycle in a context.
type contextKey struct{}

// NewContext returns a context that carries l.
func NewContext(ctx context.Context, l *Lifecycle) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the life that ctx belongs to, or nil.
func From(ctx context.Context) *Lifecycle {
	if ctx == nil {
		return nil
	}
	l, _ := ctx.Value(contextKey{}).(*Lifecycle)
	return l
}

// OnStart runs fn after the nodes have started and before the service listens. Hooks run
// in the order in which they were added; the first error ends the start.
//
// The result says whether fn will run: not where ctx belongs to no application, and not
// after the moment has passed.
func OnStart(ctx context.Context, name string, fn Func) bool { return From(ctx).OnStart(name, fn) }

// OnReady runs fn when the service listens, its tasks run and every hold of HoldReady is
// released, before it reports ready. The first error ends the service. The result is that
// of OnStart.
func OnReady(ctx context.Context, name string, fn Func) bool { return From(ctx).OnReady(name, fn) }

// OnDrain runs fn when the stop begins: the service no longer reports ready and still
// serves. All hooks run, whatever their errors. The result is that of OnStart.
func OnDrain(ctx context.Context, name string, fn Func) bool { return From(ctx).OnDrain(name, fn) }

// OnShutdown runs fn when the service stops accepting, after the drain delay. It is for
// whoever serves something beside the HTTP server: fn stops accepting too and finishes
// what it has in flight. All shutdown hooks run at the same time, while the HTTP server
// finishes its requests, also where the service never became ready; their errors are
// joined.
//
// The context of fn ends when requests are cut off: then fn cuts off too. Nobody waits
// for it any longer: what has not returned at that moment is an error and is left behind,
// and the tasks' context ends. So where fn needs time to cut off, its task is what waits
// for that. The result is that of OnStart; it is false once the shutdown has begun.
func OnShutdown(ctx context.Context, name string, fn Func) bool {
	return From(ctx).OnShutdown(name, fn)
}

// OnStop runs fn after the last request and the last task have ended, before the nodes
// are closed. Hooks run in reverse order, all of them, whatever their errors. The result
// is that of OnStart.
func OnStop(ctx context.Context, name string, fn Func) bool { return From(ctx).OnStop(name, fn) }

// Fail ends the service in order, with an exit code other than 0. It is for a task or an
// extension that cannot go on. The result is false where ctx belongs to no application:
// then nothing happens.
func Fail(ctx context.Context, err error) bool { return From(ctx).Fail(err) }

// Draining returns a channel that is closed when the stop begins, for a handler that
// would otherwise stream until it is cut off. It is nil where ctx belongs to no
// application.
func Draining(ctx context.Context) <-chan struct{} { return From(ctx).Draining() }

// Readied returns a channel that is closed when the service becomes ready, which a start
// that fails or is stopped never does. It is nil where ctx belongs to no application.
func Readied(ctx context.Context) <-chan struct{} { return From(ctx).Readied() }

// OnStart is the package function OnStart for this life.
func (l *Lifecycle) OnStart(name string, fn Func) bool { return l.add(phaseStart, name, fn) }

// OnReady is the package function OnReady for this life.
func (l *Lifecycle) OnReady(name string, fn Func) bool { return l.add(phaseReady, name, fn) }

// OnDrain is the package function OnDrain for this life.
func (l *Lifecycle) OnDrain(name string, fn Func) bool { return l.add(phaseDrain, name, fn) }

// OnShutdown is the package function OnShutdown for this life.
func (l *Lifecycle) OnShutdown(name string, fn Func) bool { return l.add(phaseShutdown, name, fn) }

// OnStop is the package function OnStop for this life.
func (l *Lifecycle) OnStop(name string, fn Func) bool { return l.add(phaseStop, name, fn) }

// OnClose adds a function for code that runs an application, such as xreg: fn closes what
// the name says, after the stop hooks. Close functions run in reverse order, as stop
// hooks do. The result is that of OnStart.
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

// take removes and returns the next hook of a phase; without one the phase is over.
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

// Start runs the start hooks until the first error or the end of ctx, whose cause it then
// returns. It and its siblings are for code that runs an application; a hook that a
// running hook adds to the same phase runs too, except during the shutdown.
func (l *Lifecycle) Start(ctx context.Context) error { return l.run(ctx, phaseStart) }

// StartDrain sets StateDraining, from which on the service does not report ready.
func (l *Lifecycle) StartDrain() { l.advance(StateDraining) }

// Drain calls StartDrain and runs the drain hooks, all of them; their errors are joined.
func (l *Lifecycle) Drain(ctx context.Context) error {
	l.StartDrain()
	return l.run(ctx, phaseDrain)
}

// Stop sets StateStopped and runs the stop hooks and then the functions of OnClose, all
// of them in reverse; their errors are joined. A second call finds nothing to run.
func (l *Lifecycle) Stop(ctx context.Context) error {
	l.advance(StateStopped)
	return errors.Join(l.run(ctx, phaseStop), l.run(ctx, phaseClose))
}

// run runs the hooks of a phase one after the other: those of the start until the first
// error or the end of ctx, those of the stop whatever their errors.
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

// call runs the hook and names it in its error.
func (h hook) call(ctx context.Context, p phase) error {
	if err := guard.Call(ctx, h.run); err != nil {
		return fmt.Errorf("%s %q: %w", p, h.name, err)
	}
	return nil
}

// PanicError is a panic that became an error.
type PanicError = guard.PanicError

// Guard calls fn and turns a panic into a *PanicError.
func Guard(fn func() error) error { return guard.Run(fn) }
