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

// The bounds of an application's pool.
const (
	DefaultConcurrency = 100
	DefaultQueueSize   = 10_000
)

const hookName = "background work"

// PoolOption changes the pool of an application.
type PoolOption func(*poolConfig)

type poolConfig struct{ concurrency, queue int }

// WithConcurrency says how many pieces of work run at the same time. The default is
// DefaultConcurrency.
func WithConcurrency(n int) PoolOption { return func(c *poolConfig) { c.concurrency = n } }

// WithQueueSize says how many pieces of work may wait: for their turn, or for another
// attempt. The default is DefaultQueueSize.
func WithQueueSize(n int) PoolOption { return func(c *poolConfig) { c.queue = n } }

// Init returns a node, for the key xctx.Exec, that sets the bounds of the application's
// pool. It stands before nodes that use Async.
func Init(options ...PoolOption) func(ctx context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		c := poolConfig{DefaultConcurrency, DefaultQueueSize}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if c.concurrency < 1 || c.queue < 0 {
			return nil, fmt.Errorf("%w: a pool of %d with a queue of %d",
				ErrOption, c.concurrency, c.queue)
		}
		life := xhook.From(ctx)
		if life == nil {
			return nil, errors.New("asyncx: Init is a node of an application")
		}
		if p := poolOf(life, c); p.config != c {
			return nil, errors.New(
				"asyncx: Init: the pool is in use already; list the node before those that use it")
		}
		return nil, nil // a node that only runs
	}
}

// pools are those of the applications that have not stopped.
var pools = struct {
	sync.Mutex
	of map[*xhook.Lifecycle]*pool
}{of: map[*xhook.Lifecycle]*pool{}}

// poolOf returns the pool of an application. A zero configuration is the default.
func poolOf(life *xhook.Lifecycle, c poolConfig) *pool {
	pools.Lock()
	defer pools.Unlock()
	if p := pools.of[life]; p != nil {
		return p
	}
	if c == (poolConfig{}) {
		c = poolConfig{DefaultConcurrency, DefaultQueueSize}
	}
	p := &pool{config: c, workers: pond.NewPool(c.concurrency), held: map[*Handle]struct{}{}}
	p.cut, p.cutOff = context.WithCancelCause(context.Background())
	p.closed = !life.OnStop(hookName, func(ctx context.Context) error {
		defer forget(life)
		return p.stop(ctx)
	})
	if !p.closed {
		pools.of[life] = p
	}
	return p
}

// forget removes the pool of an application that has stopped.
func forget(life *xhook.Lifecycle) {
	pools.Lock()
	defer pools.Unlock()
	delete(pools.of, life)
}

// pool is what an application runs in the background.
type pool struct {
	config poolConfig
	// its queue has no bound of its own, so that work that was accepted is; it has no
	// goroutines while it is idle
	workers pond.Pool

	cut    context.Context // ends when the stop does not wait any longer
	cutOff context.CancelCauseFunc

	mu     sync.Mutex
	held   map[*Handle]struct{} // accepted, and not ended
	closed bool
	idle   chan struct{} // closed when nothing is held; nil: nobody waits for that
}

// accept lets the work run, or refuses it.
func (p *pool) accept(h *Handle) {
	h.ended = func() { p.drop(h) }
	p.mu.Lock()
	var refused error
	switch {
	case p.closed:
		refused = ErrStopped
	case len(p.held) >= p.config.concurrency+p.config.queue:
		refused = ErrFull
	default:
		p.held[h] = struct{}{}
	}
	p.mu.Unlock()
	if refused != nil {
		h.refuse(refused)
		return
	}
	h.cut = p.cut
	h.detach = context.AfterFunc(p.cut, func() { h.end(context.Cause(p.cut)) })
	p.submit(func() { h.attempt(1, p.submit) })
}

func (p *pool) submit(run func()) {
	// which refuses only where the queue is full or the pool was stopped, and neither
	// ever is
	_ = p.workers.Go(run)
}

// drop forgets work that has ended.
func (p *pool) drop(h *Handle) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, h)
	if len(p.held) == 0 && p.idle != nil {
		close(p.idle)
		p.idle, p.closed = nil, true
	}
}

// wait returns a channel that is closed when nothing is held; from then on nothing is
// accepted.
func (p *pool) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(chan struct{})
	if len(p.held) == 0 {
		p.closed = true
		close(idle)
	} else {
		p.idle = idle
	}
	return idle
}

// stop is the hook: it waits for everything, and shortly before ctx ends it ends what is
// left.
func (p *pool) stop(ctx context.Context) error {
	var cut []string
	err := xhook.Finish(ctx, 0, p.wait(), func() {
		cut = p.names()
		p.cutOff(ErrStopped)
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, xhook.ErrForced):
		return fmt.Errorf("%w: cut off: %s", ErrStopped, list(cut))
	default:
		return fmt.Errorf("%w: cut off: %s; left behind: %s",
			ErrStopped, list(cut), list(p.names()))
	}
}

// names are those of what is held, and nothing is accepted from then on.
func (p *pool) names() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	names := make([]string, 0, len(p.held))
	for h := range p.held {
		names = append(names, h.name)
	}
	slices.Sort(names)
	return names
}

// listed is how many names an error has.
const listed = 10

func list(names []string) string {
	if len(names) > listed {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:listed], ", "), len(names)-listed)
	}
	return strings.Join(names, ", ")
}
