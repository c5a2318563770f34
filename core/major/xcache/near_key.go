package xcache

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nearCopy is an entry of the near cache: a V if an in-process store may store it without
// encoding it, and otherwise the bytes of a value. Views with the same value type share
// it.
type nearCopy[T any] struct {
	driver.Entry

	value T
	epoch uint64
}

// Encode implements driver.Object. It fails because a decoded copy may lack data of the
// server, such as fields that V does not have. So views with other types do not read it.
func (*nearCopy[T]) Encode() ([]byte, error) { return nil, ErrWrongType }

// keepCopy stores a copy of value under key, unless it may be stale, and returns the
// copy.
func keepCopy[T any](
	ctx context.Context, n *near, key string, t ticket, value T, ttl time.Duration,
) *T {
	c := &nearCopy[T]{value: value, epoch: t.epoch}
	c.Object = c
	n.keep(ctx, key, t, &c.Entry, ttl)
	return &c.value
}

// copyIn returns the value of an entry if it is a T of the current epoch.
func copyIn[T any](n *near, e *driver.Entry) (*T, bool) {
	c, ok := e.Object.(*nearCopy[T])
	if !ok || c.epoch != n.epoch.Load() {
		return nil, false
	}
	return &c.value, true
}

// fromNear reads the near cache, then the server.
func (c *KeyCache[K, V]) fromNear(ctx context.Context, key K) (v *V, ok bool, err error) {
	if v, ok = c.copyOf(ctx, key); ok {
		return v, true, nil
	}
	return c.fromStore(ctx, key)
}

// copyOf reads the near cache only.
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
	if c.val.asObject {
		return copyIn[V](c.near, e)
	}
	data, ok := copyIn[[]byte](c.near, e)
	if !ok {
		return nil, false
	}
	v, err := c.val.decode(*data)
	return v, err == nil
}

// keep stores a copy of a value from the server: data, which decodes to v. It returns the
// shared copy of v, or v if the copy is bytes.
func (c *KeyCache[K, V]) keep(
	ctx context.Context, name string, t ticket, data []byte, v *V, ttl time.Duration,
) *V {
	if c.val.asObject {
		return keepCopy(ctx, c.near, name, t, *v, ttl)
	}
	keepCopy(ctx, c.near, name, t, data, ttl)
	return v
}
