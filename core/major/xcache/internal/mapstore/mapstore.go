// Package mapstore is the simplest store that behaves: one map under one lock. It stands in for a server
// in the tests of xcache, and for a right backend in those of cachetest. Nothing else imports it.
package mapstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Driver opens stores. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return "map" }

// Check implements driver.Driver.
func (Driver) Check(driver.Config) error { return nil }

// Open implements driver.Driver.
func (Driver) Open(_ context.Context, c driver.Config) (driver.Store, error) { return New(c.Now), nil }

// Store implements driver.Store and driver.Batcher.
type Store struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*entry
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
	return &Store{now: now, entries: map[string]*entry{}}
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
	return s.live(key) != nil, s.usable(ctx)
}

// TTL implements driver.Keys.
func (s *Store) TTL(ctx context.Context, key string) (time.Duration, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.live(key)
	if e == nil || e.expiry.IsZero() {
		return 0, e != nil, s.usable(ctx)
	}
	return e.expiry.Sub(s.now()), true, s.usable(ctx)
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

// HashGet implements driver.Hashes.
func (s *Store) HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e != nil {
		value, ok = e.hash[field]
	}
	return value, ok, err
}

// HashGetAll implements driver.Hashes.
func (s *Store) HashGetAll(ctx context.Context, key string) (out []driver.Field, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e != nil {
		for name, value := range e.hash {
			out = append(out, driver.Field{Name: name, Value: value})
		}
	}
	return out, err
}

// HashSet implements driver.Hashes.
func (s *Store) HashSet(
	ctx context.Context, key string, fields []driver.Field, remove []string, w driver.Write,
) (bool, error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, hash)
	if err != nil {
		return false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: hash, hash: map[string][]byte{}}
	}
	for _, f := range fields {
		if _, exists := e.hash[f.Name]; !w.If.Holds(exists) {
			return false, nil
		}
	}
	for _, f := range fields {
		e.hash[f.Name] = f.Value
	}
	for _, name := range remove {
		delete(e.hash, name)
	}
	s.write(key, old, e, w)
	return true, nil
}

// HashExists implements driver.Hashes.
func (s *Store) HashExists(ctx context.Context, key, field string) (bool, error) {
	_, ok, err := s.HashGet(ctx, key, field)
	return ok, err
}

// HashRemove implements driver.Hashes.
func (s *Store) HashRemove(ctx context.Context, key string, names ...string) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e == nil {
		return 0, err
	}
	for _, name := range names {
		if _, ok := e.hash[name]; ok {
			delete(e.hash, name)
			removed++
		}
	}
	s.tidy(key, e)
	return removed, nil
}

// SetAdd implements driver.Sets.
func (s *Store) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, set)
	if err != nil || !w.If.Holds(old != nil) {
		return 0, false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: set, set: map[string]bool{}}
	}
	for _, m := range members {
		if !e.set[string(m)] {
			e.set[string(m)] = true
			added++
		}
	}
	s.write(key, old, e, w)
	return added, true, nil
}

// SetMembers implements driver.Sets.
func (s *Store) SetMembers(ctx context.Context, key string) (out [][]byte, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e != nil {
		for m := range e.set {
			out = append(out, []byte(m))
		}
	}
	return out, err
}

// SetContains implements driver.Sets.
func (s *Store) SetContains(ctx context.Context, key string, member []byte) (bool, error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	return e != nil && e.set[string(member)], err
}

// SetCount implements driver.Sets.
func (s *Store) SetCount(ctx context.Context, key string) (n int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e != nil {
		n = len(e.set)
	}
	return n, err
}

// SetRemove implements driver.Sets.
func (s *Store) SetRemove(ctx context.Context, key string, members ...[]byte) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e == nil {
		return 0, err
	}
	for _, m := range members {
		if e.set[string(m)] {
			delete(e.set, string(m))
			removed++
		}
	}
	s.tidy(key, e)
	return removed, nil
}

// ListPush implements driver.Lists.
func (s *Store) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, list)
	if err != nil || !w.If.Holds(old != nil) {
		return 0, false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: list}
	}
	for _, v := range values {
		if end == driver.Head {
			e.list = slices.Insert(e.list, 0, v)
		} else {
			e.list = append(e.list, v)
		}
	}
	s.write(key, old, e, w)
	return len(e.list), true, nil
}

// ListRange implements driver.Lists.
func (s *Store) ListRange(ctx context.Context, key string, start, stop int) (out [][]byte, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, err
	}
	n := len(e.list)
	for i, v := range e.list {
		afterStart := i >= start && (start >= 0 || i-n >= start)
		beforeStop := (stop >= 0 && i <= stop) || (stop < 0 && i-n <= stop)
		if afterStart && beforeStop {
			out = append(out, v)
		}
	}
	return out, nil
}

// ListIndex implements driver.Lists.
func (s *Store) ListIndex(ctx context.Context, key string, index int) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, false, err
	}
	if index < 0 {
		index += len(e.list)
	}
	if index < 0 || index >= len(e.list) {
		return nil, false, nil
	}
	return e.list[index], true, nil
}

// ListLen implements driver.Lists.
func (s *Store) ListLen(ctx context.Context, key string) (n int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e != nil {
		n = len(e.list)
	}
	return n, err
}

// ListPop implements driver.Lists.
func (s *Store) ListPop(ctx context.Context, key string, end driver.End) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, false, err
	}
	at := 0
	if end == driver.Tail {
		at = len(e.list) - 1
	}
	value = e.list[at]
	e.list = slices.Delete(e.list, at, at+1)
	s.tidy(key, e)
	return value, true, nil
}

// ListRemove implements driver.Lists.
func (s *Store) ListRemove(ctx context.Context, key string, count int, value []byte) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return 0, err
	}
	var at []int
	for i, v := range e.list {
		if string(v) == string(value) {
			at = append(at, i)
		}
	}
	switch {
	case count > 0 && count < len(at):
		at = at[:count]
	case count < 0 && -count < len(at):
		at = at[len(at)+count:]
	}
	for _, i := range slices.Backward(at) {
		e.list = slices.Delete(e.list, i, i+1)
	}
	s.tidy(key, e)
	return len(at), nil
}
