package drivertest

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// SetAdd implements driver.Store.
func (s *MapStore) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	defer s.mu.Unlock()
	all, err := open[set](ctx, s, key)
	if err != nil || !w.If.Holds(len(all) > 0) {
		return 0, false, err
	}
	if all == nil {
		all = set{}
	}
	before := len(all)
	for _, member := range members {
		all[string(member)] = struct{}{}
	}
	s.grow(key, all, len(all), w)
	return len(all) - before, true, nil
}

// SetMembers implements driver.Store.
func (s *MapStore) SetMembers(ctx context.Context, key string) (members [][]byte, err error) {
	defer s.mu.Unlock()
	all, err := open[set](ctx, s, key)
	for member := range all {
		members = append(members, []byte(member))
	}
	return members, err
}

// SetContains implements driver.Store.
func (s *MapStore) SetContains(ctx context.Context, key string, member []byte) (bool, error) {
	defer s.mu.Unlock()
	all, err := open[set](ctx, s, key)
	_, ok := all[string(member)]
	return ok, err
}

// SetCount implements driver.Store.
func (s *MapStore) SetCount(ctx context.Context, key string) (int, error) {
	defer s.mu.Unlock()
	all, err := open[set](ctx, s, key)
	return len(all), err
}

// SetRemove implements driver.Store.
func (s *MapStore) SetRemove(
	ctx context.Context, key string, members ...[]byte,
) (removed int, err error) {
	defer s.mu.Unlock()
	all, err := open[set](ctx, s, key)
	if err != nil {
		return 0, err
	}
	before := len(all)
	for _, member := range members {
		delete(all, string(member))
	}
	s.shrink(key, all, len(all))
	return before - len(all), nil
}
