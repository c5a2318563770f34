package xcache

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// SetCache stores a set of values under each key. Values are equal if their encodings are
// equal. It is safe for concurrent use. Add resets the TTL of the set; Remove keeps it.
type SetCache[K comparable, V any] struct{ collection[K, V] }

// SetCacheOf returns a view on m for sets with keys K and members V. It panics if K has
// no string form.
func SetCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *SetCache[K, V] {
	return &SetCache[K, V]{newCollection[K, V](m, opts)}
}

// Add adds members and returns the number of new members. WithNX and WithXX apply to the
// key. Without members it changes nothing.
func (c *SetCache[K, V]) Add(
	ctx context.Context, key K, members []V, opts ...Option,
) (added int, err error) {
	return c.add(ctx, key, members, opts,
		func(name string, list [][]byte, w driver.Write) (int, bool, error) {
			return c.m.store.SetAdd(ctx, name, list, w)
		})
}

// Members returns the members in any order. It returns an empty slice if the key does not
// exist.
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

// Count returns the number of members, 0 if the key does not exist.
func (c *SetCache[K, V]) Count(ctx context.Context, key K) (n int, err error) {
	return c.count(ctx, opRead, key,
		func(name string) (int, error) { return c.m.store.SetCount(ctx, name) })
}

// Remove removes members and returns how many existed. It keeps the TTL of the set. An
// empty set does not exist.
func (c *SetCache[K, V]) Remove(ctx context.Context, key K, members ...V) (removed int, err error) {
	return c.count(ctx, opRemove, key, func(name string) (int, error) {
		list, err := c.val.encodeAll(members)
		if err != nil || len(list) == 0 {
			return 0, err
		}
		return c.m.store.SetRemove(ctx, name, list...)
	})
}
