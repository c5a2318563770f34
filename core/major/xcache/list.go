package xcache

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ListCache holds a list of values under each key. Indexes count from 0; -1 is the last element, -2 the one
// before. It is safe for concurrent use. Prepend and Append slide the life of the list, Pop, PopLast and
// Remove do not.
type ListCache[K comparable, V any] struct {
	view
	key text[K]
	val values[V]
}

// ListCacheOf returns the view on m whose lists have keys K and elements V. It panics where K has no text.
func ListCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *ListCache[K, V] {
	return &ListCache[K, V]{view: newView(m, opts), key: newText[K]("key"), val: newValues[V](m)}
}

// Prepend puts the values before the first element, one after the other, so that the last of them is then
// the first of the list. It returns the list's length, 0 where WithNX or WithXX, which are about the key,
// held it back. Without values it changes nothing and returns 0.
func (c *ListCache[K, V]) Prepend(ctx context.Context, key K, values []V, opts ...Option) (length int, err error) {
	return c.push(ctx, key, driver.Head, values, opts)
}

// Append puts the values behind the last element. The rest is as in Prepend.
func (c *ListCache[K, V]) Append(ctx context.Context, key K, values []V, opts ...Option) (length int, err error) {
	return c.push(ctx, key, driver.Tail, values, opts)
}

func (c *ListCache[K, V]) push(ctx context.Context, key K, end driver.End, values []V, opts []Option) (int, error) {
	op := c.begin(opSet)
	length, stored := 0, false
	w, err := c.resolveUpdate(opts)
	if err == nil {
		var k string
		var list [][]byte
		if k, err = c.key.begin(ctx, c.prefix, key); err == nil {
			list, err = c.val.encodeAll(values)
		}
		if err == nil && len(list) > 0 {
			length, stored, err = c.m.store.ListPush(ctx, k, end, list, w.Write)
			w.done(stored)
		}
	}
	return length, op.end(ctx, wrote(stored), err)
}

// Range returns the elements from start to stop, both included; those of them that there are.
func (c *ListCache[K, V]) Range(ctx context.Context, key K, start, stop int) (values []V, err error) {
	op := c.begin(opRead)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var list [][]byte
		if list, err = c.m.store.ListRange(ctx, k, start, stop); err == nil {
			values, err = c.val.decodeAll(list)
		}
	}
	return values, op.end(ctx, found(len(values) > 0), err)
}

// Index returns one element, and whether there is one.
func (c *ListCache[K, V]) Index(ctx context.Context, key K, index int) (v *V, ok bool, err error) {
	op := c.begin(opGet)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var data []byte
		if data, ok, err = c.m.store.ListIndex(ctx, k, index); ok && err == nil {
			v, err = c.val.decode(data)
		}
	}
	return v, ok && err == nil, op.end(ctx, found(ok), err)
}

// Len returns the number of elements; 0 for a key that does not exist.
func (c *ListCache[K, V]) Len(ctx context.Context, key K) (n int, err error) {
	op := c.begin(opRead)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		n, err = c.m.store.ListLen(ctx, k)
	}
	return n, op.end(ctx, found(n > 0), err)
}

// Pop takes the first element off the list. The list lives on as long as it would have; without elements it
// does not exist.
func (c *ListCache[K, V]) Pop(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Head)
}

// PopLast is Pop for the last element.
func (c *ListCache[K, V]) PopLast(ctx context.Context, key K) (*V, bool, error) {
	return c.pop(ctx, key, driver.Tail)
}

func (c *ListCache[K, V]) pop(ctx context.Context, key K, end driver.End) (v *V, ok bool, err error) {
	op := c.begin(opPop)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var data []byte
		if data, ok, err = c.m.store.ListPop(ctx, k, end); ok && err == nil {
			v, err = c.val.decode(data)
		}
	}
	return v, ok && err == nil, op.end(ctx, found(ok), err)
}

// Remove removes elements equal to value and counts them: the first count of them from the head, the last
// -count from the tail, or all where count is 0. The list lives on as long as it would have.
func (c *ListCache[K, V]) Remove(ctx context.Context, key K, count int, value V) (removed int, err error) {
	op := c.begin(opRemove)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var data []byte
		if data, err = c.val.encode(&value); err == nil {
			removed, err = c.m.store.ListRemove(ctx, k, count, data)
		}
	}
	return removed, op.end(ctx, wrote(removed > 0), err)
}

// Delete removes the key, whatever it holds. A key that does not exist is no error.
func (c *ListCache[K, V]) Delete(ctx context.Context, key K) error {
	_, err := deleteKeys(ctx, &c.view, &c.key, []K{key}, false)
	return err
}

// TTL returns how long the key will live, 0 for ever, and whether it exists.
func (c *ListCache[K, V]) TTL(ctx context.Context, key K) (time.Duration, bool, error) {
	return keyTTL(ctx, &c.view, &c.key, key)
}
