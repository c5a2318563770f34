// Package xcache is one cache with typed views over any backend.
//
//	users := xcache.KeyCacheOf[xsnowflake.SnowflakeID, User](xcache.MustGetManager(ctx), xcache.WithName("user"))
//	user, found, err := users.Get(ctx, id)
//
// A backend is a plugin that registers itself when it is imported:
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/memory"
//
// # What holds on every backend
//
// A value that was set or got is the caller's own: a later change never shows in the
// cache. A key lives as long as it was told to: WithTTL(0) is for ever, a write slides
// the life of a hash, set or list, and removing something never does. An empty collection
// does not exist. Package cachetest says the rest.
//
// # Near cache
//
// In front of a server a manager may keep copies of values in the process (WithNear),
// which the server keeps up to date. Get, GetMany and GetOrLoad of a KeyCache ask them
// first; a hit is no round trip and no decoding. A process always reads what it has
// written. What others write shows when the server's message arrives; where the
// connection dies without a word, within driver.Invalidator.Staleness (2 s for Redis),
// and in any case within the near cache's TTL. A copy does not outlive its key.
// WithoutNear makes a view that always asks the server.
//
// # Errors
//
// What goes wrong in the backend comes back as an *Error. To a client it is
// xerror.CacheError, or ServiceUnavailable where the backend does not answer, unless the
// context ended: then it is the context's error. Errors name the operation, never a key
// or a value.
package xcache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Manager is an open cache: what all views of it share. It is safe for concurrent use.
type Manager struct {
	options Options // with a codec
	store   driver.Store
	batcher driver.Batcher // nil if the store has no batches
	near    *near          // nil if there is no near cache
	ttl     time.Duration  // of a key that is written without one
	loads   loadGroup
	leases  *xlease.Leases // nil if the store keeps none
}

// New returns the manager of an open store, which it owns from then on. It ignores what
// describes how to open one: Options.Driver, Config, ConnectTimeout and NearMaxEntries.
func New(store driver.Store, opts ...ManagerOption) (*Manager, error) {
	o := NewOptions(opts...)
	problems := o.check()
	if store == nil {
		problems = append(problems, errors.New("xcache: a manager without a store"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return manage(store, o)
}

// manage returns the manager of an open store for options that were checked.
func manage(store driver.Store, o Options) (*Manager, error) {
	registerMapper()
	o.Codec = cmp.Or[Codec](o.Codec, jsonCodec{})
	m := &Manager{options: o, store: store, loads: loadGroup{byKey: map[inFlightKey]*inFlight{}}}
	if l, ok := store.(driver.Leaser); ok {
		m.leases = xlease.New(l.LeaseBackend(m.options.Prefix + leaseMark))
	}
	if d, ok := store.(driver.Defaults); ok {
		m.ttl = d.DefaultTTL()
	}
	if o.DefaultTTL != nil {
		m.ttl = *o.DefaultTTL
	}
	m.batcher, _ = store.(driver.Batcher)
	if o.NearStore != nil {
		if err := m.watchNear(o); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Store returns the open store, for a backend's own package to find its client.
func (m *Manager) Store() driver.Store { return m.store }

// Values returns what else the backend puts into the application's context; nil where
// nothing.
func (m *Manager) Values() map[xctx.ContextKey]any {
	if p, ok := m.store.(driver.Provider); ok {
		return p.Values()
	}
	return nil
}

// String describes the backend in one line, without a secret.
func (m *Manager) String() string {
	if m.near == nil {
		return describe(m.store)
	}
	return fmt.Sprintf("%s; near cache: %s, for %s at most",
		describe(m.store), describe(m.near.store), m.near.ttl)
}

func describe(store driver.Store) string {
	if d, ok := store.(fmt.Stringer); ok {
		return d.String()
	}
	return fmt.Sprintf("%T", store)
}

// Waiting returns how many callers of GetOrLoad wait for a load just now, for a gauge.
func (m *Manager) Waiting() int { return m.loads.waiting() }

// CheckHealth asks the backend for an answer.
func (m *Manager) CheckHealth(ctx context.Context) error { return fail("ping", m.store.Ping(ctx)) }

// Close releases the leases, and closes the near cache and the store. Later calls fail; a
// second Close does nothing.
func (m *Manager) Close() error {
	var released error
	if m.leases != nil {
		released = m.leases.Close()
	}
	return fail("close", errors.Join(released, m.near.close(), m.store.Close()))
}

// GetManager returns the manager that the application's context carries. The error is
// that of xctxutil.Get.
func GetManager(ctx context.Context) (*Manager, *xerror.Error) {
	return xctxutil.Get[*Manager](ctx, xctx.CacheManagerKey)
}

// MustGetManager is GetManager for an application that has a cache: it panics if there is
// none.
func MustGetManager(ctx context.Context) *Manager {
	return xctxutil.MustGet[*Manager](ctx, xctx.CacheManagerKey)
}

// life applies the jitter to a time to live, and rounds it up to whole milliseconds as
// far as a Duration reaches.
func (m *Manager) life(ttl time.Duration) time.Duration {
	if ttl > 0 && m.options.TTLJitter > 0 {
		ttl -= time.Duration(rand.Float64() * m.options.TTLJitter * float64(ttl))
		ttl = max(ttl, 1)
	}
	ttl = min(ttl, math.MaxInt64-time.Millisecond) + time.Millisecond - 1
	return ttl.Truncate(time.Millisecond)
}
