// Package drivertest has a cache backend for tests: the simplest store that passes the
// conformance suite, one map under one lock. Tests inject faults in it, and authors of backends
// may start from it.
package drivertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/collections"
)

// MapDriver opens stores of the type MapStore. The zero value is ready to use.
type MapDriver struct{}

// Name implements driver.Driver.
func (MapDriver) Name() string { return "map" }

// InterfaceVersion implements driver.Versioned.
func (MapDriver) InterfaceVersion() int { return 1 }

// Check implements driver.Driver.
func (MapDriver) Check(driver.Config) error { return nil }

// Open implements driver.Driver.
func (MapDriver) Open(_ context.Context, c driver.Config) (driver.Store, error) {
	return NewMapStore(c.Now), nil
}

// MapStore implements driver.Store, driver.Batcher, driver.Scanner and driver.Leaser.
type MapStore struct {
	collections.Methods

	now func() time.Time

	mu      sync.Mutex
	entries map[string]entry
	leases  map[string]leasedriver.Backend // by prefix
	closed  bool
}

var _ interface {
	driver.Store
	driver.Batcher
	driver.Scanner
	driver.Leaser
} = (*MapStore)(nil)

// entry is what a key holds.
type entry struct {
	value  driver.Object // driver.Bytes or a collection
	expiry time.Time     // zero is never
}

// NewMapStore returns an empty store. A nil now is the real time.
func NewMapStore(now func() time.Time) *MapStore {
	if now == nil {
		now = time.Now
	}
	s := &MapStore{now: now, entries: map[string]entry{}, leases: map[string]leasedriver.Backend{}}
	s.Methods = collections.New(s.view, s.change)
	return s
}

// begin locks the store. The caller unlocks it, also after an error.
func (s *MapStore) begin(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		return driver.ErrClosed
	}
	return ctx.Err()
}

// live returns what the key holds.
func (s *MapStore) live(key string) (e entry, ok bool) {
	e, ok = s.entries[key]
	if ok && !e.expiry.IsZero() && !s.now().Before(e.expiry) {
		delete(s.entries, key)
		return entry{}, false
	}
	return e, ok
}

// put writes a value.
func (s *MapStore) put(key string, value driver.Object, w driver.Write) {
	e, exists := s.live(key)
	e.value = value
	switch {
	case exists && w.Keep:
	case w.TTL > 0:
		e.expiry = s.now().Add(w.TTL)
	default:
		e.expiry = time.Time{}
	}
	s.entries[key] = e
}

func (s *MapStore) view(ctx context.Context, key string, f func(held driver.Object) error) error {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return err
	}
	e, _ := s.live(key)
	return f(e.value)
}

func (s *MapStore) change(
	ctx context.Context, key string, w driver.Write, f func(held driver.Object) (collections.Collection, error),
) error {
	return s.view(ctx, key, func(held driver.Object) error {
		c, err := f(held)
		switch {
		case err != nil || c == nil:
			return err
		case c.Len() == 0:
			delete(s.entries, key)
		default:
			s.put(key, c, w)
		}
		return nil
	})
}

// Get implements driver.Store.
func (s *MapStore) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	err = s.view(ctx, key, func(held driver.Object) (err error) {
		if ok = held != nil; ok {
			value, err = held.Encode()
		}
		return err
	})
	return value, ok && err == nil, err
}

// Set implements driver.Store.
func (s *MapStore) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return false, err
	}
	if _, exists := s.live(key); !w.If.Holds(exists) {
		return false, nil
	}
	s.put(key, driver.Bytes(value), w)
	return true, nil
}

// Delete implements driver.Store.
func (s *MapStore) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	for _, key := range keys {
		if _, ok := s.live(key); ok {
			removed++
		}
		delete(s.entries, key)
	}
	return removed, nil
}

// Exists implements driver.Store.
func (s *MapStore) Exists(ctx context.Context, key string) (bool, error) {
	_, ok, err := s.TTL(ctx, key)
	return ok, err
}

// TTL implements driver.Store.
func (s *MapStore) TTL(ctx context.Context, key string) (ttl time.Duration, ok bool, err error) {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return 0, false, err
	}
	e, ok := s.live(key)
	if ok && !e.expiry.IsZero() {
		ttl = e.expiry.Sub(s.now())
	}
	return ttl, ok, nil
}

// GetMany implements driver.Batcher.
func (s *MapStore) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, key := range keys {
		e, _ := s.live(key)
		value, _ := e.value.(driver.Bytes)
		out[i] = value
	}
	return out, nil
}

// SetMany implements driver.Batcher.
func (s *MapStore) SetMany(ctx context.Context, items []driver.Item) error {
	for _, i := range items {
		if _, err := s.Set(ctx, i.Key, i.Value, i.Write); err != nil {
			return err
		}
	}
	return nil
}

// pageSize is how many keys come in one page of a walk.
const pageSize = 100

// Scan implements driver.Scanner. As a server may, it gives a key twice: the last of a page is
// in the next, too.
func (s *MapStore) Scan(ctx context.Context, prefix string, page func(keys []string) bool) error {
	keys, err := s.under(ctx, prefix)
	for at := 0; err == nil && at < len(keys); at += pageSize - 1 {
		if err = s.Ping(ctx); err != nil || !page(keys[at:min(at+pageSize, len(keys))]) {
			return err
		}
	}
	return err
}

// under returns the keys that begin with prefix.
func (s *MapStore) under(ctx context.Context, prefix string) ([]string, error) {
	defer s.mu.Unlock()
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Collect(maps.Keys(s.entries)), func(key string) bool {
		_, ok := s.live(key)
		return !ok || !strings.HasPrefix(key, prefix)
	}), nil
}

// LeaseBackend implements driver.Leaser.
func (s *MapStore) LeaseBackend(prefix string) leasedriver.Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[prefix] == nil {
		s.leases[prefix] = xlease.InProcess(s.now)
	}
	return s.leases[prefix]
}

// Ping implements driver.Store.
func (s *MapStore) Ping(ctx context.Context) error {
	defer s.mu.Unlock()
	return s.begin(ctx)
}

// Close implements driver.Store.
func (s *MapStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
