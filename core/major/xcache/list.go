package xcache

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ListCache stores a list of values under each key. Indexes start at 0; negative indexes
// count from the end, so -1 is the last element. It is safe for concurrent use. Prepend
// and Append reset the TTL of the list; Pop, PopLast and Remove keep it.
type ListCache[K comparable, V any] struct{ collection[K, V] }

// ListCacheOf returns a view on m for lists with keys K and elements V. It panics if K
// has no string form.
func ListCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *ListCache[K, V] {
	return &ListCache[K, V]{newCollection[K, V](m, opts)}
}

// Prepend inserts values at the head, one after another, so the last value becomes the
// first element. It returns the new length, or 0 if WithNX or WithXX prevented the write;
// both conditions apply to the key. Without values it changes nothing and returns 0.
func (c *ListCache[K, V]) Prepend(
	ctx context.Context, key K, values []V, opts ...Option,
) (length int, err error) {
	return c.push(ctx, key, driver.Head, values, opts)
}

// Append adds values at the tail. Otherwise it behaves like Prepend.
func (c *ListCache[K, V]) Append(
	ctx context.Context, key K, values []V, opts ...Option,
) (length int, err error) {
	return c.push(ctx, key, driver.Tail, values, opts)
}

func (c *ListCache[K, V]) push(
	ctx context.Context, key K, end driver.End, values []V, opts []Option,
) (length int, err error) {
	return c.add(ctx, key, values, opts,
		func(name string, list [][]byte, w driver.Write) (int, bool, error) {
			return c.m.store.ListPush(ctx, name, end, list, w)
		})
}

// Range returns the existing elements from start to stop, inclusive.
func (c *ListCache[K, V]) Range(
	ctx context.Context, key K, start, stop int,
) (values []V, err error) {
	return c.list(ctx, key, func(name string) ([][]byte, error) {
		return c.m.store.ListRange(ctx, name, start, stop)
	})
}

// Index returns the element at index, and whether it exists.
func (c *ListCache[K, V]) Index(ctx context.Context, key K, index int) (v *V, ok bool, err error) {
	return c.value(ctx, opGet, key, func(name string) ([]byte, bool, error) {
		return c.m.store.ListIndex(ctx, name, index)
	})
}

// Len returns the number of elements, 0 if the key does not exist.
func (c *ListCache[K, V]) Len(ctx context.Context, key K) (n int, err error) {
	return c.count(ctx, opRead, key,
		func(name string) (int, error) { return c.m.store.ListLen(ctx, name) })
}

// Pop removes and returns the first element. It keeps the TTL of the list. An empty list
// does not exist.
func (c *ListCache[K, V]) Pop(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Head)
}

// PopLast removes and returns the last element. Otherwise it behaves like Pop.
func (c *ListCache[K, V]) PopLast(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Tail)
}

func (c *ListCache[K, V]) pop(
	ctx context.Context, key K, end driver.End,
) (v *V, ok bool, err error) {
	return c.value(ctx, opPop, key,
		func(name string) ([]byte, bool, error) { return c.m.store.ListPop(ctx, name, end) })
}

// Remove removes elements equal to value and returns their number. A positive count
// removes the first count elements, a negative count the last -count, and 0 all of them.
// Remove keeps the TTL of the list.
func (c *ListCache[K, V]) Remove(
	ctx context.Context, key K, count int, value V,
) (removed int, err error) {
	return c.count(ctx, opRemove, key, func(name string) (int, error) {
		data, err := c.val.encode(&value)
		if err != nil {
			return 0, err
		}
		return c.m.store.ListRemove(ctx, name, count, data)
	})
}
