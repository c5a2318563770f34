// Package drivertest provides a simple in-memory cache backend for tests: a map with a
// mutex that passes the conformance suite. Tests inject faults into it, and authors of
// backends can use it as a starting point.
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
)

// MapDriver opens MapStores. The zero value is ready to use.
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

type entry struct {
	value  any       // a []byte, hash, set or list
	expiry time.Time // zero means never
}

// NewMapStore returns an empty store. A nil now means time.Now.
func NewMapStore(now func() time.Time) *MapStore {
	if now == nil {
		now = time.Now
	}
	return &MapStore{
		now: now, entries: map[string]entry{}, leases: map[string]leasedriver.Backend{},
	}
}

// lock locks the store. The caller must unlock it, even after an error.
func (s *MapStore) lock(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		return driver.ErrClosed
	}
	return ctx.Err()
}

// live returns the entry of a key that has not expired.
func (s *MapStore) live(key string) (e entry, ok bool) {
	e, ok = s.entries[key]
	if ok && !e.expiry.IsZero() && !s.now().Before(e.expiry) {
		delete(s.entries, key)
		return entry{}, false
	}
	return e, ok
}

func (s *MapStore) put(key string, value any, w driver.Write) {
	e, exists := s.live(key)
	e.value = value
	switch {
	case exists && w.KeepTTL:
	case w.TTL > 0:
		e.expiry = s.now().Add(w.TTL)
	default:
		e.expiry = time.Time{}
	}
	s.entries[key] = e
}

// Get implements driver.Store.
func (s *MapStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	defer s.mu.Unlock()
	if err := s.lock(ctx); err != nil {
		return nil, false, err
	}
	e, ok := s.live(key)
	if !ok {
		return nil, false, nil
	}
	value, ok := e.value.([]byte)
	if !ok {
		return nil, false, driver.ErrWrongType
	}
	return value, true, nil
}

// Set implements driver.Store.
func (s *MapStore) Set(
	ctx context.Context, key string, value []byte, w driver.Write,
) (bool, error) {
	defer s.mu.Unlock()
	if err := s.lock(ctx); err != nil {
		return false, err
	}
	if _, exists := s.live(key); !w.If.Holds(exists) {
		return false, nil
	}
	s.put(key, value, w)
	return true, nil
}

// Delete implements driver.Store.
func (s *MapStore) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	defer s.mu.Unlock()
	if err := s.lock(ctx); err != nil {
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
	if err := s.lock(ctx); err != nil {
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
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, key := range keys {
		e, _ := s.live(key)
		out[i], _ = e.value.([]byte)
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

// pageSize is the number of keys in a page of Scan.
const pageSize = 100

// Scan implements driver.Scanner. Like some servers, it returns keys twice: each page
// starts with the last key of the previous one.
func (s *MapStore) Scan(ctx context.Context, prefix string, page func(keys []string) bool) error {
	keys, err := s.withPrefix(ctx, prefix)
	for at := 0; err == nil && at < len(keys); at += pageSize - 1 {
		if err = s.Ping(ctx); err != nil || !page(keys[at:min(at+pageSize, len(keys))]) {
			return err
		}
	}
	return err
}

func (s *MapStore) withPrefix(ctx context.Context, prefix string) ([]string, error) {
	defer s.mu.Unlock()
	if err := s.lock(ctx); err != nil {
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
	return s.lock(ctx)
}

// Close implements driver.Store.
func (s *MapStore) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
