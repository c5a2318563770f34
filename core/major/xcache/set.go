package xcache

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// SetCache holds a set of values under each key. Values are the same where their
// encodings are. It is safe for concurrent use. Add slides the life of the set, Remove
// does not.
type SetCache[K comparable, V any] struct{ collection[K, V] }

// SetCacheOf returns the view on m whose sets have keys K and members V. It panics where
// K has no text.
func SetCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *SetCache[K, V] {
	return &SetCache[K, V]{newCollection[K, V](m, opts)}
}

// Add adds members and counts those that were not there yet. WithNX and WithXX are about
// the key. Without members it changes nothing.
func (c *SetCache[K, V]) Add(
	ctx context.Context, key K, members []V, opts ...Option,
) (added int, err error) {
	return c.add(ctx, key, members, opts,
		func(name string, list [][]byte, w driver.Write) (int, bool, error) {
			return c.m.store.SetAdd(ctx, name, list, w)
		})
}

// Members returns the members in any order; none for a key that does not exist.
func (c *SetCache[K, V]) Members(ctx context.Context, key K) (members []V, err error) {
	return c.list(ctx, key, func(name string) ([][]byte, error) {
		return c.m.store.SetMembers(ctx, name)
	})
}

// IsMember reports whether member is in the set.
func (c *SetCache[K, V]) IsMember(ctx context.Context, key K, member V) (ok bool, err error) {
	return c.call(ctx, opExists, key, func(name string) (bool, error) {
		data, err := c.val.encode(&member)
		if err != nil {
			return false, err
		}
		return c.m.store.SetContains(ctx, name, data)
	})
}

// Count returns the number of members; 0 for a key that does not exist.
func (c *SetCache[K, V]) Count(ctx context.Context, key K) (n int, err error) {
	return c.count(ctx, opRead, key,
		func(name string) (int, error) { return c.m.store.SetCount(ctx, name) })
}

// Remove removes members and counts those that were there. The set lives on as long as it
// would have; without members it does not exist.
func (c *SetCache[K, V]) Remove(ctx context.Context, key K, members ...V) (removed int, err error) {
	return c.count(ctx, opRemove, key, func(name string) (int, error) {
		list, err := c.val.encodeAll(members)
		if err != nil || len(list) == 0 {
			return 0, err
		}
		return c.m.store.SetRemove(ctx, name, list...)
	})
}
