package xcache

import (
	"context"
	"time"
)

// SetCache holds a set of values under each key. Values are the same where their encodings are. It is safe
// for concurrent use. Add slides the life of the set, Remove does not.
type SetCache[K comparable, V any] struct {
	view
	key text[K]
	val values[V]
}

// SetCacheOf returns the view on m whose sets have keys K and members V. It panics where K has no text.
func SetCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *SetCache[K, V] {
	return &SetCache[K, V]{view: newView(m, opts), key: newText[K]("key"), val: newValues[V](m)}
}

// Add adds members and counts those that were not there yet. WithNX and WithXX are about the key. Without
// members it changes nothing.
func (c *SetCache[K, V]) Add(ctx context.Context, key K, members []V, opts ...Option) (added int, err error) {
	op := c.begin(opSet)
	added, stored, err := c.add(ctx, key, members, opts)
	return added, op.end(ctx, wrote(stored), err)
}

func (c *SetCache[K, V]) add(ctx context.Context, key K, members []V, opts []Option) (int, bool, error) {
	w, err := c.resolveUpdate(opts)
	if err != nil {
		return 0, false, err
	}
	k, err := c.key.begin(ctx, c.prefix, key)
	if err != nil {
		return 0, false, err
	}
	list, err := c.val.encodeAll(members)
	if err != nil || len(list) == 0 {
		return 0, false, err
	}
	added, stored, err := c.m.store.SetAdd(ctx, k, list, w.Write)
	w.done(stored)
	return added, stored, err
}

// Members returns the members in any order; none for a key that does not exist.
func (c *SetCache[K, V]) Members(ctx context.Context, key K) (members []V, err error) {
	op := c.begin(opRead)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var list [][]byte
		if list, err = c.m.store.SetMembers(ctx, k); err == nil {
			members, err = c.val.decodeAll(list)
		}
	}
	return members, op.end(ctx, found(len(members) > 0), err)
}

// IsMember reports whether member is in the set.
func (c *SetCache[K, V]) IsMember(ctx context.Context, key K, member V) (ok bool, err error) {
	op := c.begin(opExists)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var data []byte
		if data, err = c.val.encode(&member); err == nil {
			ok, err = c.m.store.SetContains(ctx, k, data)
		}
	}
	return ok, op.end(ctx, found(ok), err)
}

// Count returns the number of members; 0 for a key that does not exist.
func (c *SetCache[K, V]) Count(ctx context.Context, key K) (n int, err error) {
	op := c.begin(opRead)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		n, err = c.m.store.SetCount(ctx, k)
	}
	return n, op.end(ctx, found(n > 0), err)
}

// Remove removes members and counts those that were there. The set lives on as long as it would have;
// without members it does not exist.
func (c *SetCache[K, V]) Remove(ctx context.Context, key K, members ...V) (removed int, err error) {
	op := c.begin(opRemove)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var list [][]byte
		if list, err = c.val.encodeAll(members); err == nil && len(list) > 0 {
			removed, err = c.m.store.SetRemove(ctx, k, list...)
		}
	}
	return removed, op.end(ctx, wrote(removed > 0), err)
}

// Delete removes the key, whatever it holds. A key that does not exist is no error.
func (c *SetCache[K, V]) Delete(ctx context.Context, key K) error {
	_, err := deleteKeys(ctx, &c.view, &c.key, []K{key}, false)
	return err
}

// TTL returns how long the key will live, 0 for ever, and whether it exists.
func (c *SetCache[K, V]) TTL(ctx context.Context, key K) (time.Duration, bool, error) {
	return keyTTL(ctx, &c.view, &c.key, key)
}
