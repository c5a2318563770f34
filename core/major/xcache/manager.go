// Package xcache provides typed views on a cache with interchangeable backends.
//
//	m := xcache.MustGetManager(ctx)
//	users := xcache.KeyCacheOf[xsnowflake.SnowflakeID, User](m, xcache.WithName("user"))
//	user, found, err := users.Get(ctx, id)
//
// Backends are plugins that register themselves when they are imported:
//
//	import _ "github.com/plinthgo/plinth/cacheplugins/memory"
//
// # Semantics
//
// All backends behave the same. The caller owns the values that it sets or gets: later
// changes do not affect the cache. Every write resets the TTL of a hash, set or list;
// removing elements keeps it. WithTTL(0) means no expiry. An empty collection does not
// exist. Package cachetest specifies the details.
//
// # Near cache
//
// A manager can cache copies of a server's values in the process (WithNear). Get, GetMany
// and GetOrLoad of a KeyCache read the copies first; a hit needs no round trip and no
// decoding. A process always reads its own writes. A change by another process becomes
// visible when the server's message arrives. If the connection breaks silently, the delay
// is at most driver.Invalidator.Staleness (2 s for Redis), and in any case at most the
// near cache's TTL. A copy does not outlive its key. WithoutNear makes a view bypass the
// near cache.
//
// # Errors
//
// Backend errors are returned as *Error. Clients get xerror.CacheError, or
// ServiceUnavailable if the backend is unavailable. If the context ended, they get the
// context's error. Error messages contain the operation, never a key or a value.
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

// Manager is an open cache that all its views share. It is safe for concurrent use.
type Manager struct {
	options Options // Codec is set
	store   driver.Store
	batcher driver.Batcher // nil if the store has no batches
	near    *near          // nil without a near cache
	ttl     time.Duration  // default for keys
	loads   loadGroup
	leases  *xlease.Leases // nil if the store does not support leases
}

// New returns a manager of an open store. The manager owns the store. New ignores options
// that describe how to open a store: Driver, Config, ConnectTimeout and NearMaxEntries.
func New(store driver.Store, opts ...ManagerOption) (*Manager, error) {
	o := NewOptions(opts...)
	problems := o.check()
	if store == nil {
		problems = append(problems, errors.New("xcache: the store is nil"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return manage(store, o)
}

// manage returns the manager of an open store for checked options.
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

// Store returns the open store. A backend's package uses it to find its client.
func (m *Manager) Store() driver.Store { return m.store }

// Values returns the values that the backend adds to the application's context, or nil.
func (m *Manager) Values() map[xctx.ContextKey]any {
	if p, ok := m.store.(driver.Provider); ok {
		return p.Values()
	}
	return nil
}

// String describes the backend in one line, without secrets.
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

// Waiting returns the number of GetOrLoad callers that wait for a load.
func (m *Manager) Waiting() int { return m.loads.waiting() }

// CheckHealth pings the backend.
func (m *Manager) CheckHealth(ctx context.Context) error { return fail("ping", m.store.Ping(ctx)) }

// Close releases the leases and closes the near cache and the store. Later calls fail
// with ErrClosed; calling Close again does nothing.
func (m *Manager) Close() error {
	var leaseErr error
	if m.leases != nil {
		leaseErr = m.leases.Close()
	}
	return fail("close", errors.Join(leaseErr, m.near.close(), m.store.Close()))
}

// GetManager returns the manager in the application's context. It returns the errors of
// xctxutil.Get.
func GetManager(ctx context.Context) (*Manager, *xerror.Error) {
	return xctxutil.Get[*Manager](ctx, xctx.CacheManagerKey)
}

// MustGetManager is like GetManager but panics if the context has no manager.
func MustGetManager(ctx context.Context) *Manager {
	return xctxutil.MustGet[*Manager](ctx, xctx.CacheManagerKey)
}

// effectiveTTL applies the jitter and rounds up to whole milliseconds.
func (m *Manager) effectiveTTL(ttl time.Duration) time.Duration {
	if ttl > 0 && m.options.TTLJitter > 0 {
		ttl -= time.Duration(rand.Float64() * m.options.TTLJitter * float64(ttl))
		ttl = max(ttl, 1)
	}
	ttl = min(ttl, math.MaxInt64-time.Millisecond) + time.Millisecond - 1
	return ttl.Truncate(time.Millisecond)
}
