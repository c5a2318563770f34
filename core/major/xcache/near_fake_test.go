package xcache_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// fakeServer is a store that reports changes only when the test calls its watcher. Hooks
// run between its steps.
type fakeServer struct {
	*drivertest.MapStore

	watcher  driver.Watcher
	prefix   string
	watchCtx context.Context // the context of Watch
	watchErr error
	trips    atomic.Int64
	afterGet func(key string) // after the read, before the result is returned
	afterSet func() error     // returns the result of a completed write
}

func newServer() *fakeServer { return &fakeServer{MapStore: drivertest.NewMapStore(nil)} }

func (s *fakeServer) Watch(ctx context.Context, prefix string, w driver.Watcher) error {
	s.watcher, s.prefix, s.watchCtx = w, prefix, ctx
	return s.watchErr
}

func (*fakeServer) Staleness() time.Duration { return time.Second }

func (s *fakeServer) Get(ctx context.Context, key string) ([]byte, bool, error) {
	s.trips.Add(1)
	value, ok, err := s.MapStore.Get(ctx, key)
	if s.afterGet != nil {
		s.afterGet(key)
	}
	return value, ok, err
}

func (s *fakeServer) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	s.trips.Add(1)
	return s.MapStore.GetMany(ctx, keys)
}

func (s *fakeServer) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (bool, error) {
	s.trips.Add(1)
	stored, err := s.MapStore.Set(ctx, key, value, w)
	if s.afterSet != nil {
		return false, s.afterSet()
	}
	return stored, err
}

// GetTTL implements driver.Invalidator. It reports no expiry.
func (s *fakeServer) GetTTL(
	ctx context.Context, key string,
) (value []byte, ttl time.Duration, ok bool, err error) {
	value, ok, err = s.Get(ctx, key)
	return value, 0, ok, err
}

func (s *fakeServer) GetManyTTL(
	ctx context.Context, keys []string,
) ([][]byte, []time.Duration, error) {
	values, err := s.GetMany(ctx, keys)
	return values, make([]time.Duration, len(keys)), err
}

// ttlServer is a fakeServer that reports TTLs.
type ttlServer struct{ *fakeServer }

func (s ttlServer) GetTTL(
	ctx context.Context, key string,
) (value []byte, ttl time.Duration, ok bool, err error) {
	value, ok, err = s.Get(ctx, key)
	if err != nil || !ok {
		return nil, 0, false, err
	}
	ttl, ok, err = s.TTL(ctx, key)
	return value, ttl, ok, err
}

func (s ttlServer) GetManyTTL(
	ctx context.Context, keys []string,
) ([][]byte, []time.Duration, error) {
	values, err := s.GetMany(ctx, keys)
	ttls := make([]time.Duration, len(keys))
	for i, key := range keys {
		ttls[i], _, _ = s.TTL(ctx, key)
	}
	return values, ttls, err
}

// copies is an in-process store for a near cache.
type copies struct {
	*drivertest.MapStore

	mu        sync.RWMutex
	objects   map[string]*driver.Entry
	ttl       time.Duration // of the last copy
	beforeSet func()
	deleteErr error
	closed    bool
}

func newCopies() *copies {
	return &copies{MapStore: drivertest.NewMapStore(nil), objects: map[string]*driver.Entry{}}
}

func (c *copies) GetObject(_ context.Context, key string) (*driver.Entry, bool, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	o, ok := c.objects[key]
	return o, ok, nil
}

func (c *copies) SetObject(
	_ context.Context, key string, o *driver.Entry, w driver.Write,
) (bool, error) {
	if c.beforeSet != nil {
		c.beforeSet()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[key], c.ttl = o, w.TTL
	return true, nil
}

func (c *copies) Delete(_ context.Context, keys ...string) (int, error) {
	if c.deleteErr != nil {
		return 0, c.deleteErr
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.objects, key)
	}
	return len(keys), nil
}

func (c *copies) Close() error {
	c.closed = true
	return nil
}

const nearTTL = time.Minute

// nearManager returns a manager with a near cache whose watch is up.
func nearManager(
	tb testing.TB, s *fakeServer, opts ...xcache.ManagerOption,
) (*xcache.Manager, *copies) {
	tb.Helper()
	return nearManagerOf(tb, s, s, opts...)
}

// nearManagerOf is nearManager for a store that wraps s.
func nearManagerOf(
	tb testing.TB, store driver.Store, s *fakeServer, opts ...xcache.ManagerOption,
) (*xcache.Manager, *copies) {
	tb.Helper()
	c := newCopies()
	m := managerOf(tb, store, append(opts,
		func(o *xcache.Options) { o.NearStore, o.NearTTL = c, nearTTL })...)
	s.watcher.Connected()
	tb.Cleanup(func() { _ = m.Close() })
	return m, c
}

// write changes a key like another process, without notifying the watcher.
func (s *fakeServer) write(tb testing.TB, key, value string) {
	tb.Helper()
	if _, err := s.MapStore.Set(tb.Context(), key, []byte(value), driver.Write{}); err != nil {
		tb.Fatal(err)
	}
}

// checkGet fails the test unless the view reads want; "" means no value.
func checkGet(tb testing.TB, what string, c *xcache.KeyCache[string, string], key, want string) {
	tb.Helper()
	got := ""
	v, ok, err := c.Get(tb.Context(), key)
	if err != nil {
		tb.Fatalf("%s: %v", what, err)
	}
	if ok {
		got = *v
	}
	if got != want {
		tb.Errorf("%s: Get = %q, want %q", what, got, want)
	}
}
