package drivertest

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The collections of a MapStore. Empty collections are not stored; open returns the zero
// value for a missing key.
type (
	hash map[string][]byte
	set  map[string]struct{}
	list [][]byte
)

// open locks the store and returns the collection under key, or ErrWrongType. The caller
// must unlock the store, even after an error.
func open[C hash | set | list](ctx context.Context, s *MapStore, key string) (c C, err error) {
	if err := s.lock(ctx); err != nil {
		return c, err
	}
	e, ok := s.live(key)
	if !ok {
		return c, nil
	}
	c, ok = e.value.(C)
	if !ok {
		return c, driver.ErrWrongType
	}
	return c, nil
}

// grow stores a collection of n elements, or removes the key if n is 0.
func (s *MapStore) grow(key string, collection any, n int, w driver.Write) {
	if n == 0 {
		delete(s.entries, key)
		return
	}
	s.put(key, collection, w)
}

// shrink is like grow but keeps the expiry.
func (s *MapStore) shrink(key string, collection any, n int) {
	if n == 0 {
		delete(s.entries, key)
		return
	}
	s.entries[key] = entry{collection, s.entries[key].expiry}
}
