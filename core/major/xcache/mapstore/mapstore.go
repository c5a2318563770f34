// Package mapstore is the simplest cache store that passes the conformance suite: one map under
// one lock. It is for tests, which inject faults in it, and an example for authors of backends.
package mapstore

import (
	"context"
	"sync"
	"time"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Driver opens stores. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return "map" }

// InterfaceVersion implements driver.Versioned.
func (Driver) InterfaceVersion() int { return 1 }

// Check implements driver.Driver.
func (Driver) Check(driver.Config) error { return nil }

// Open implements driver.Driver.
func (Driver) Open(_ context.Context, c driver.Config) (driver.Store, error) { return New(c.Now), nil }

// Store implements driver.Store, driver.Batcher, driver.Scanner and driver.Leaser.
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*entry
	leases  map[string]leasedriver.Backend // by prefix
	closed  bool
}

type entry struct {
	value  []byte            // of a plain value
	hash   map[string][]byte // of a hash
	set    map[string]bool   // of a set
	list   [][]byte          // of a list
	kind   kind
	expiry time.Time // zero is never
}

type kind uint8

const (
	plain kind = iota
	hash
	set
	list
)

// New returns an empty store. A nil now is the real time.
func New(now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{now: now, entries: map[string]*entry{}, leases: map[string]leasedriver.Backend{}}
}

// live returns the entry of key, or nil.
func (s *Store) live(key string) *entry {
	e := s.entries[key]
	if e != nil && !e.expiry.IsZero() && !s.now().Before(e.expiry) {
		delete(s.entries, key)
		return nil
	}
	return e
}

// begin locks the store and returns the entry of key if it is of the kind.
func (s *Store) begin(ctx context.Context, key string, k kind) (*entry, error) {
	s.mu.Lock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	e := s.live(key)
	if e != nil && e.kind != k {
		return nil, driver.ErrWrongType
	}
	return e, nil
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return driver.ErrClosed
	}
	return ctx.Err()
}

// write stores e, whose predecessor is old.
func (s *Store) write(key string, old, e *entry, w driver.Write) {
	switch {
	case old != nil && w.Keep:
		e.expiry = old.expiry
	case w.TTL > 0:
		e.expiry = s.now().Add(w.TTL)
	default:
		e.expiry = time.Time{}
	}
	s.entries[key] = e
	s.tidy(key, e)
}

// tidy removes an empty collection.
func (s *Store) tidy(key string, e *entry) {
	if e.kind != plain && len(e.hash)+len(e.set)+len(e.list) == 0 {
		delete(s.entries, key)
	}
}

// Get implements driver.Keys.
func (s *Store) Get(ctx context.Context, key string) ([]byte, bool, error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, plain)
	if err != nil || e == nil {
		return nil, false, err
	}
	return e.value, true, nil
}

// Set implements driver.Keys.
func (s *Store) Set(ctx context.Context, key string, value []byte, w driver.Write) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	old := s.live(key)
	if !w.If.Holds(old != nil) {
		return false, nil
	}
	s.write(key, old, &entry{value: value}, w)
	return true, nil
}

// Delete implements driver.Keys.
func (s *Store) Delete(ctx context.Context, keys ...string) (removed int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	for _, key := range keys {
		if s.live(key) != nil {
			removed++
		}
		delete(s.entries, key)
	}
	return removed, nil
}

// Exists implements driver.Keys.
func (s *Store) Exists(ctx context.Context, key string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return false, err
	}
	return s.live(key) != nil, nil
}

// TTL implements driver.Keys.
func (s *Store) TTL(ctx context.Context, key string) (time.Duration, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return 0, false, err
	}
	e := s.live(key)
	if e == nil || e.expiry.IsZero() {
		return 0, e != nil, nil
	}
	return e.expiry.Sub(s.now()), true, nil
}

// GetMany implements driver.Batcher.
func (s *Store) GetMany(ctx context.Context, keys []string) ([][]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([][]byte, len(keys))
	for i, key := range keys {
		if e := s.live(key); e != nil && e.kind == plain {
			out[i] = e.value
		}
	}
	return out, s.usable(ctx)
}

// SetMany implements driver.Batcher.
func (s *Store) SetMany(ctx context.Context, items []driver.Item) error {
	for _, i := range items {
		if _, err := s.Set(ctx, i.Key, i.Value, i.Write); err != nil {
			return err
		}
	}
	return nil
}

// Ping implements driver.Store.
func (s *Store) Ping(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usable(ctx)
}

// Close implements driver.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}
