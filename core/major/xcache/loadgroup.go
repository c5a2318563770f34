package xcache

import (
	"context"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/internal/guard"
)

// loadGroup tracks in-flight loads.
type loadGroup struct {
	mu      sync.Mutex
	byKey   map[inFlightKey]*inFlight
	running atomic.Int32 // len(byKey), so that writes skip the lock if it is 0
}

// inFlightKey separates views with different value types under the same key.
type inFlightKey struct {
	key    string
	typ    reflect.Type
	shared bool // the view is immutable, and all callers share one value
}

// inFlight is one load with its waiting callers.
type inFlight struct {
	cancel   context.CancelFunc
	borrowed *borrowedContext
	done     chan struct{}
	waiters  int // guarded by loadGroup.mu

	storing     sync.Mutex // held while the result is written to the store
	invalidated bool       // guarded by storing: the key was written during the load

	// The result, readable after done is closed: a KeyCache.snapshot or nil.
	value any
	err   error
}

// loadFunc loads the value for the callers of fl.
type loadFunc func(ctx context.Context, fl *inFlight) (any, error)

// do returns the result of the load of k. If no load is in flight, it starts run in a
// goroutine, with a context that has ctx's values and is canceled when no caller waits.
// do returns ctx.Err() if ctx is done first.
func (g *loadGroup) do(ctx context.Context, k inFlightKey, run loadFunc) (any, error) {
	g.mu.Lock()
	fl, joined := g.byKey[k]
	if !joined {
		fl = g.start(ctx, k, run)
	}
	fl.waiters++
	g.mu.Unlock()
	select {
	case <-fl.done:
		return fl.value, fl.err
	case <-ctx.Done():
	}
	if !joined {
		fl.borrowed.release()
	}
	g.leave(k, fl)
	return nil, ctx.Err()
}

// start starts a load. The caller holds mu.
func (g *loadGroup) start(ctx context.Context, k inFlightKey, run loadFunc) *inFlight {
	borrowed := &borrowedContext{Context: context.WithoutCancel(ctx), values: ctx}
	loadCtx, cancel := context.WithCancel(borrowed)
	fl := &inFlight{cancel: cancel, borrowed: borrowed, done: make(chan struct{}), err: errGoexit}
	g.byKey[k] = fl
	g.running.Add(1)
	go func() {
		defer func() {
			borrowed.release()
			g.mu.Lock()
			g.remove(k, fl)
			g.mu.Unlock()
			close(fl.done)
			cancel()
		}()
		fl.err = guard.Run(func() (err error) {
			fl.value, err = run(loadCtx, fl)
			return err
		})
	}()
	return fl
}

// leave removes a waiting caller. The last caller cancels the load, and later callers do
// not join it.
func (g *loadGroup) leave(k inFlightKey, fl *inFlight) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if fl.waiters--; fl.waiters > 0 {
		return
	}
	fl.cancel()
	g.remove(k, fl)
}

// waiting returns the number of waiting callers.
func (g *loadGroup) waiting() (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, fl := range g.byKey {
		n += fl.waiters
	}
	return n
}

// remove removes a load, so that the next caller starts a new one. The caller holds mu.
func (g *loadGroup) remove(k inFlightKey, fl *inFlight) {
	if g.byKey[k] == fl {
		delete(g.byKey, k)
		g.running.Add(-1)
	}
}

// invalidate marks an in-flight load of key as stale, before key is written or removed.
// Its callers still get the result, but it is not stored.
func (g *loadGroup) invalidate(key string) {
	g.invalidateMatching(func(k string) bool { return k == key })
}

// invalidateMatching invalidates the loads of all matching keys.
func (g *loadGroup) invalidateMatching(match func(key string) bool) {
	if g.running.Load() == 0 {
		return
	}
	var matching []*inFlight
	g.mu.Lock()
	for k, fl := range g.byKey {
		if match(k.key) {
			matching = append(matching, fl)
			g.remove(k, fl)
		}
	}
	g.mu.Unlock()
	for _, fl := range matching {
		fl.storing.Lock()
		fl.invalidated = true
		fl.storing.Unlock()
	}
}

// store runs write unless the load is invalidated. It blocks later writes until write
// returns.
func (fl *inFlight) store(write func() error) error {
	fl.storing.Lock()
	defer fl.storing.Unlock()
	if fl.invalidated {
		return nil
	}
	return write()
}

// borrowedContext has the values of the first caller's context while that caller waits.
// gin reuses its contexts, so afterwards borrowedContext has only the values of the
// context of the HTTP request.
type borrowedContext struct {
	context.Context // never canceled

	mu     sync.RWMutex
	values context.Context
}

func (c *borrowedContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if pooled, ok := c.values.Value(xctx.PooledKey).(context.Context); ok {
		c.values = xctx.Unpooled(pooled)
	}
}

// Value implements context.Context.
func (c *borrowedContext) Value(key any) any {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.values.Value(key)
}
