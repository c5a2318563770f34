package memory

import (
	"context"

	"github.com/plinthgo/plinth/cacheplugins/memory/internal/collections"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// view implements collections.View.
func (s *store) view(_ context.Context, key string, f func(value driver.Object) error) error {
	sh := s.shard(key)
	sh.RLock()
	defer sh.RUnlock()
	if e := s.lookup(key); e != nil {
		return f(e.Object)
	}
	return s.err()
}

// change implements collections.Change.
func (s *store) change(
	_ context.Context, key string, w driver.Write,
	f func(value driver.Object) (collections.Collection, error),
) error {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	if err := s.err(); err != nil {
		return err
	}
	var value driver.Object
	e := s.lookup(key)
	if e != nil {
		value = e.Object
	}
	c, err := f(value)
	switch {
	case err != nil || c == nil:
		return err
	case c.Len() == 0:
		s.engine.Invalidate(key)
	case e == nil || !w.KeepTTL: // otherwise the collection was modified in place
		s.put(key, &driver.Entry{Object: c, Deadline: s.deadline(w.TTL)})
	}
	return nil
}
