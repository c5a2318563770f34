package xcache

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nearCopy is a copy in a near cache: a V that is kept undecoded, by the rules for a
// store in the process, or the bytes of a value. It serves views with values of the same
// type.
type nearCopy[T any] struct {
	driver.Entry

	value T
	epoch uint64
}

// Encode implements driver.Object. What an undecoded copy encodes to need not be what the
// server holds, such as the fields that a V does not have, so other views do not see it.
func (*nearCopy[T]) Encode() ([]byte, error) { return nil, ErrWrongType }

// keepCopy puts a copy of value under key, unless it may be old, and returns the copy.
func keepCopy[T any](
	ctx context.Context, n *near, key string, t ticket, value T, ttl time.Duration,
) *T {
	kept := &nearCopy[T]{value: value, epoch: t.epoch}
	kept.Object = kept
	n.keep(ctx, key, t, &kept.Entry, ttl)
	return &kept.value
}

// copyIn returns what an entry of the near cache holds, if that is a T of the current
// epoch.
func copyIn[T any](n *near, e *driver.Entry) (*T, bool) {
	kept, ok := e.Object.(*nearCopy[T])
	if !ok || kept.epoch != n.epoch.Load() {
		return nil, false
	}
	return &kept.value, true
}

// fromNear is read with the near cache.
func (c *KeyCache[K, V]) fromNear(ctx context.Context, key K) (v *V, ok bool, err error) {
	if v, ok = c.copyOf(ctx, key); ok {
		return v, true, nil
	}
	return c.fromStore(ctx, key)
}

// copyOf reads the near cache alone. If that fails, the server is asked.
func (c *KeyCache[K, V]) copyOf(ctx context.Context, key K) (*V, bool) {
	if ctx.Err() != nil {
		return nil, false
	}
	name, buffer, err := c.key.borrow(c.prefix, key)
	if err != nil {
		return nil, false
	}
	e, ok, err := c.near.values.GetObject(ctx, name)
	releaseName(buffer)
	if !ok || err != nil {
		return nil, false
	}
	if c.val.whole {
		return copyIn[V](c.near, e)
	}
	data, ok := copyIn[[]byte](c.near, e)
	if !ok {
		return nil, false
	}
	v, err := c.val.decode(*data)
	return v, err == nil
}

// keep puts a copy of what the server has sent into the near cache: data, which decodes
// to v. It returns the copy of v, which all reads of an immutable view share, or v if the
// copy is bytes.
func (c *KeyCache[K, V]) keep(
	ctx context.Context, name string, t ticket, data []byte, v *V, ttl time.Duration,
) *V {
	if c.val.whole {
		return keepCopy(ctx, c.near, name, t, *v, ttl)
	}
	keepCopy(ctx, c.near, name, t, data, ttl)
	return v
}
