package xcache

import (
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ListCache holds a list of values under each key. Indexes count from 0; -1 is the last
// element, -2 the one before. It is safe for concurrent use. Prepend and Append slide the
// life of the list, Pop, PopLast and Remove do not.
type ListCache[K comparable, V any] struct{ collection[K, V] }

// ListCacheOf returns the view on m whose lists have keys K and elements V. It panics
// where K has no text.
func ListCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *ListCache[K, V] {
	return &ListCache[K, V]{newCollection[K, V](m, opts)}
}

// Prepend puts the values before the first element, one after the other, so that the last
// of them is then the first of the list. It returns the list's length, 0 where WithNX or
// WithXX, which are about the key, held it back. Without values it changes nothing and
// returns 0.
func (c *ListCache[K, V]) Prepend(
	ctx context.Context, key K, values []V, opts ...Option,
) (length int, err error) {
	return c.push(ctx, key, driver.Head, values, opts)
}

// Append puts the values behind the last element. The rest is as in Prepend.
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

// Range returns the elements from start to stop, both included; those of them that there
// are.
func (c *ListCache[K, V]) Range(
	ctx context.Context, key K, start, stop int,
) (values []V, err error) {
	return c.list(ctx, key, func(name string) ([][]byte, error) {
		return c.m.store.ListRange(ctx, name, start, stop)
	})
}

// Index returns one element, and whether there is one.
func (c *ListCache[K, V]) Index(ctx context.Context, key K, index int) (v *V, ok bool, err error) {
	return c.value(ctx, opGet, key, func(name string) ([]byte, bool, error) {
		return c.m.store.ListIndex(ctx, name, index)
	})
}

// Len returns the number of elements; 0 for a key that does not exist.
func (c *ListCache[K, V]) Len(ctx context.Context, key K) (n int, err error) {
	return c.count(ctx, opRead, key,
		func(name string) (int, error) { return c.m.store.ListLen(ctx, name) })
}

// Pop takes the first element off the list. The list lives on as long as it would have;
// without elements it does not exist.
func (c *ListCache[K, V]) Pop(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Head)
}

// PopLast is Pop for the last element.
func (c *ListCache[K, V]) PopLast(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Tail)
}

func (c *ListCache[K, V]) pop(
	ctx context.Context, key K, end driver.End,
) (v *V, ok bool, err error) {
	return c.value(ctx, opPop, key,
		func(name string) ([]byte, bool, error) { return c.m.store.ListPop(ctx, name, end) })
}

// Remove removes elements equal to value and counts them: the first count of them from
// the head, the last -count from the tail, or all where count is 0. The list lives on as
// long as it would have.
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
