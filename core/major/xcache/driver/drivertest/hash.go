package drivertest

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// HashGet implements driver.Store.
func (s *MapStore) HashGet(
	ctx context.Context, key, field string,
) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	h, err := open[hash](ctx, s, key)
	value, ok = h[field]
	return value, ok, err
}

// HashGetAll implements driver.Store.
func (s *MapStore) HashGetAll(ctx context.Context, key string) (all []driver.Field, err error) {
	defer s.mu.Unlock()
	h, err := open[hash](ctx, s, key)
	for name, value := range h {
		all = append(all, driver.Field{Name: name, Value: value})
	}
	return all, err
}

// HashSet implements driver.Store.
func (s *MapStore) HashSet(
	ctx context.Context, key string, fields []driver.Field, remove []string, w driver.Write,
) (stored bool, err error) {
	defer s.mu.Unlock()
	h, err := open[hash](ctx, s, key)
	if err != nil {
		return false, err
	}
	for _, f := range fields {
		if _, exists := h[f.Name]; !w.If.Holds(exists) {
			return false, nil
		}
	}
	if h == nil {
		h = hash{}
	}
	for _, f := range fields {
		h[f.Name] = f.Value
	}
	for _, name := range remove {
		delete(h, name)
	}
	s.grow(key, h, len(h), w)
	return true, nil
}

// HashExists implements driver.Store.
func (s *MapStore) HashExists(ctx context.Context, key, field string) (bool, error) {
	_, ok, err := s.HashGet(ctx, key, field)
	return ok, err
}

// HashRemove implements driver.Store.
func (s *MapStore) HashRemove(
	ctx context.Context, key string, fields ...string,
) (removed int, err error) {
	defer s.mu.Unlock()
	h, err := open[hash](ctx, s, key)
	if err != nil {
		return 0, err
	}
	before := len(h)
	for _, name := range fields {
		delete(h, name)
	}
	s.shrink(key, h, len(h))
	return before - len(h), nil
}
