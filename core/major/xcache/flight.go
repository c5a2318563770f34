package xcache

import (
	"context"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/plinthgo/plinth/core/defined/xctx"
)

// flights are the loads in progress. The zero value is ready to use.
type flights struct {
	mu      sync.Mutex
	loads   map[flightKey]*flight
	running atomic.Int32 // len(loads), so that writes need not take the lock where there is none
}

// flightKey tells views with values of different types under one key apart.
type flightKey struct {
	key    string
	typ    reflect.Type
	shared bool // the view is immutable, and all who wait get one value
}

// flight is one load and those who wait for it.
type flight struct {
	cancel  context.CancelFunc
	lent    *lentContext
	done    chan struct{}
	waiters int // guarded by flights.mu

	storing sync.Mutex // held while the outcome is written to the store
	spoiled bool       // guarded by storing: a write overtook the load, whose outcome is old

	// The outcome, readable once done is closed: a function that makes a copy of the value for each
	// waiter, nil where there is none.
	copies any
	err    error
}

// join returns the flight of k, and starts run for a new one, whose first caller this is. run gets a
// context with ctx's values that ends when nobody waits any more.
func (f *flights) join(ctx context.Context, k flightKey, run func(ctx context.Context, fl *flight)) (fl *flight, first bool) { //nolint:contextcheck // gin has the request in it
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl, ok := f.loads[k]; ok {
		fl.waiters++
		return fl, false
	}
	lent := lend(ctx)
	own, cancel := context.WithCancel(lent)
	fl = &flight{cancel: cancel, lent: lent, done: make(chan struct{}), waiters: 1}
	if f.loads == nil {
		f.loads = make(map[flightKey]*flight)
	}
	f.loads[k] = fl
	f.running.Add(1)
	go func() {
		defer cancel()
		defer close(fl.done)
		defer f.drop(k, fl)
		defer lent.giveBack()
		guard(fl, func() { run(own, fl) })
	}()
	return fl, true
}

// guard runs a loader and turns its panic into the flight's error.
func guard(fl *flight, run func()) {
	returned := false
	defer func() {
		if returned {
			return
		}
		fl.copies, fl.err = nil, &PanicError{Value: recover(), Stack: debug.Stack()}
	}()
	run()
	returned = true
}

// wait waits for the outcome, or for the end of the caller's own context.
func (f *flights) wait(ctx context.Context, k flightKey, fl *flight, first bool) error { //nolint:revive // flag-parameter: what join returned
	select {
	case <-fl.done:
		return fl.err
	default:
	}
	select {
	case <-fl.done:
		return fl.err
	case <-ctx.Done():
	}
	if first {
		fl.lent.giveBack()
	}
	f.leave(k, fl)
	return ctx.Err()
}

// leave takes a waiter away. The last one ends the load, which a later caller does not join.
func (f *flights) leave(k flightKey, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl.waiters--; fl.waiters > 0 {
		return
	}
	fl.cancel()
	f.forget(k, fl)
}

// waiting counts those who wait.
func (f *flights) waiting() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fl := range f.loads {
		n += fl.waiters
	}
	return n
}

// drop forgets a flight, so that the next caller starts another.
func (f *flights) drop(k flightKey, fl *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forget(k, fl)
}

// forget is drop with the lock held.
func (f *flights) forget(k flightKey, fl *flight) {
	if f.loads[k] == fl {
		delete(f.loads, k)
		f.running.Add(-1)
	}
}

// spoil is called before a write or a removal of key: what a load in progress brings is older than the
// write, so it goes to those who wait but not into the cache.
func (f *flights) spoil(key string) {
	f.spoilAll(func(k string) bool { return k == key })
}

// spoilPrefix is spoil for all keys that begin with prefix.
func (f *flights) spoilPrefix(prefix string) {
	f.spoilAll(func(k string) bool { return strings.HasPrefix(k, prefix) })
}

func (f *flights) spoilAll(match func(key string) bool) {
	if f.running.Load() == 0 {
		return
	}
	var hit []*flight
	f.mu.Lock()
	for k, fl := range f.loads {
		if match(k.key) {
			hit = append(hit, fl)
			f.forget(k, fl)
		}
	}
	f.mu.Unlock()
	for _, fl := range hit {
		fl.storing.Lock()
		fl.spoiled = true
		fl.storing.Unlock()
	}
}

// store runs write unless the flight is spoiled. A write that comes later waits for it.
func (fl *flight) store(write func() error) error {
	fl.storing.Lock()
	defer fl.storing.Unlock()
	if fl.spoiled {
		return nil
	}
	return write()
}

// lentContext has the values of the first caller's context as long as that caller waits. gin uses its
// contexts again for other requests, so a load that goes on for others then sees the values of the
// request's own context only.
type lentContext struct {
	context.Context // never ends

	rest context.Context
	mu   sync.RWMutex
	back bool
}

func lend(ctx context.Context) *lentContext {
	c := &lentContext{Context: context.WithoutCancel(ctx), rest: ctx}
	if pooled, ok := ctx.Value(xctx.PooledKey).(context.Context); ok {
		c.rest = xctx.Unpooled(pooled)
	}
	return c
}

func (c *lentContext) giveBack() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.back = true
}

// Value implements context.Context.
func (c *lentContext) Value(key any) any {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.back {
		return c.rest.Value(key)
	}
	return c.Context.Value(key)
}
