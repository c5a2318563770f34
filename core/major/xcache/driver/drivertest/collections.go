package drivertest

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The collections of a MapStore. One that is empty is not stored, so the zero value,
// which open returns for a missing key, reads as what does not exist.
type (
	hash map[string][]byte
	set  map[string]struct{}
	list [][]byte
)

// open locks the store and returns what key holds, or ErrWrongType. The caller unlocks
// the store, also after an error.
func open[C hash | set | list](ctx context.Context, s *MapStore, key string) (c C, err error) {
	if err := s.begin(ctx); err != nil {
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

// grow writes a collection of n parts, or removes the key if there are none.
func (s *MapStore) grow(key string, collection any, n int, w driver.Write) {
	if n == 0 {
		delete(s.entries, key)
		return
	}
	s.put(key, collection, w)
}

// shrink is grow for a removal, which leaves the expiry as it is.
func (s *MapStore) shrink(key string, collection any, n int) {
	if n == 0 {
		delete(s.entries, key)
		return
	}
	s.entries[key] = entry{collection, s.entries[key].expiry}
}
