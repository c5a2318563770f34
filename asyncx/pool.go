package asyncx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alitto/pond/v2"

	"github.com/plinthgo/plinth/core/major/xhook"
)

// Default limits of an application's pool.
const (
	DefaultConcurrency = 100
	DefaultQueueSize   = 10_000
)

const hookName = "background tasks"

// PoolOption configures the pool of an application.
type PoolOption func(*poolConfig)

type poolConfig struct{ concurrency, queue int }

// WithConcurrency sets the maximum number of running tasks. The default is
// DefaultConcurrency.
func WithConcurrency(n int) PoolOption { return func(c *poolConfig) { c.concurrency = n } }

// WithQueueSize sets the maximum number of waiting tasks, including tasks that wait for a
// retry. The default is DefaultQueueSize.
func WithQueueSize(n int) PoolOption { return func(c *poolConfig) { c.queue = n } }

// Init returns a node, for the key xctx.Exec, that configures the application's pool.
// List it before nodes that call Async.
func Init(options ...PoolOption) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		c := poolConfig{DefaultConcurrency, DefaultQueueSize}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if c.concurrency < 1 || c.queue < 0 {
			return nil, fmt.Errorf("%w: Init: concurrency %d, queue size %d",
				ErrOption, c.concurrency, c.queue)
		}
		lifecycle := xhook.From(ctx)
		if lifecycle == nil {
			return nil, errors.New("asyncx: Init: no application in the context")
		}
		if p := poolOf(lifecycle, c); p.config != c {
			return nil, errors.New(
				"asyncx: Init: the pool is in use already; list the node before those that use it")
		}
		return nil, nil // the node has no value
	}
}

// pools are the pools of the running applications.
var pools = struct {
	sync.Mutex
	byLifecycle map[*xhook.Lifecycle]*pool
}{byLifecycle: map[*xhook.Lifecycle]*pool{}}

// poolOf returns the pool of an application. A zero c means the defaults.
func poolOf(lifecycle *xhook.Lifecycle, c poolConfig) *pool {
	pools.Lock()
	defer pools.Unlock()
	if p := pools.byLifecycle[lifecycle]; p != nil {
		return p
	}
	if c == (poolConfig{}) {
		c = poolConfig{DefaultConcurrency, DefaultQueueSize}
	}
	p := &pool{config: c, workers: pond.NewPool(c.concurrency), tasks: map[*Handle]struct{}{}}
	p.stopCtx, p.cancelStop = context.WithCancelCause(context.Background())
	p.closed = !lifecycle.OnStop(hookName, func(ctx context.Context) error {
		defer removePool(lifecycle)
		return p.stop(ctx)
	})
	if !p.closed {
		pools.byLifecycle[lifecycle] = p
	}
	return p
}

// removePool removes the pool of a stopped application.
func removePool(lifecycle *xhook.Lifecycle) {
	pools.Lock()
	defer pools.Unlock()
	delete(pools.byLifecycle, lifecycle)
}

// pool runs the background tasks of an application.
type pool struct {
	config poolConfig
	// workers has an unbounded queue, because accept enforces the limit. It has no
	// goroutines when it is idle.
	workers pond.Pool

	stopCtx    context.Context // canceled when tasks must stop
	cancelStop context.CancelCauseFunc

	mu     sync.Mutex
	tasks  map[*Handle]struct{} // accepted and not done
	closed bool
	idle   chan struct{} // closed when all tasks are done; nil before shutdown
}

// accept submits the task or rejects it.
func (p *pool) accept(h *Handle) {
	h.onDone = func() { p.remove(h) }
	p.mu.Lock()
	var rejection error
	switch {
	case p.closed:
		rejection = ErrStopped
	case len(p.tasks) >= p.config.concurrency+p.config.queue:
		rejection = ErrFull
	default:
		p.tasks[h] = struct{}{}
	}
	p.mu.Unlock()
	if rejection != nil {
		h.reject(rejection)
		return
	}
	h.stopCtx = p.stopCtx
	h.detach = context.AfterFunc(p.stopCtx, func() { h.end(context.Cause(p.stopCtx)) })
	p.submit(func() { h.attempt(1, p.submit) })
}

func (p *pool) submit(run func()) {
	// Go fails only if the queue is full or the pool is stopped; neither happens.
	_ = p.workers.Go(run)
}

// remove removes a completed task.
func (p *pool) remove(h *Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tasks, h)
	if len(p.tasks) == 0 && p.idle != nil {
		close(p.idle)
		p.idle, p.closed = nil, true
	}
}

// wait returns a channel that is closed when all tasks are done. From then on, the pool
// rejects tasks.
func (p *pool) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(chan struct{})
	if len(p.tasks) == 0 {
		p.closed = true
		close(idle)
	} else {
		p.idle = idle
	}
	return idle
}

// stop is the shutdown hook: it waits for all tasks, and cancels the rest shortly before
// ctx expires.
func (p *pool) stop(ctx context.Context) error {
	var canceled []string
	err := xhook.Finish(ctx, 0, p.wait(), func() {
		canceled = p.names()
		p.cancelStop(ErrStopped)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, xhook.ErrForced):
		return fmt.Errorf("%w: canceled: %s", ErrStopped, joinNames(canceled))
	default:
		return fmt.Errorf("%w: canceled: %s; abandoned: %s",
			ErrStopped, joinNames(canceled), joinNames(p.names()))
	}
}

// names closes the pool and returns the names of the remaining tasks.
func (p *pool) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	names := make([]string, 0, len(p.tasks))
	for h := range p.tasks {
		names = append(names, h.name)
	}
	slices.Sort(names)
	return names
}

// maxListed is the maximum number of names in an error.
const maxListed = 10

func joinNames(names []string) string {
	if extra := len(names) - maxListed; extra > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), extra)
	}
	return strings.Join(names, ", ")
}
