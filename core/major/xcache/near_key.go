package xcache

import (
	"context"
	"reflect"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// nearValue is a copy that is kept undecoded. It serves views with values of the same type.
//
// The rules for what may be kept so are those of a store in the process. To other views it is not there: what it
// encodes to need not be what the server holds, such as the fields that a V does not have.
type nearValue[V any] struct {
	object[V]

	epoch uint64
}

// nearBytes is a copy of the bytes.
type nearBytes struct {
	driver.Bytes
	driver.Entry

	epoch uint64
}

// fromNear is read with the near cache.
func (c *KeyCache[K, V]) fromNear(ctx context.Context, key K) (v *V, ok bool, err error) {
	if ctx.Err() == nil {
		if v, ok = c.copyOf(ctx, key); ok {
			return v, true, nil
		}
	}
	return c.fromServer(ctx, key)
}

// fromServer reads a value from the server, and keeps a copy in the near cache.
func (c *KeyCache[K, V]) fromServer(ctx context.Context, key K) (v *V, ok bool, err error) {
	name, err := c.key.begin(ctx, c.prefix, key)
	if err != nil {
		return nil, false, fail(opGet, err)
	}
	t := c.near.ticket(name)
	data, ttl, ok, err := c.near.server.GetTTL(ctx, name)
	if ok && err == nil {
		v, err = c.keep(ctx, name, t, data, ttl)
	}
	return v, ok && err == nil, fail(opGet, err)
}

// copyOf reads the near cache alone. If that fails, the server is asked.
func (c *KeyCache[K, V]) copyOf(ctx context.Context, key K) (*V, bool) {
	name, buffer, err := c.key.borrow(c.prefix, key)
	if err != nil {
		return nil, false
	}
	e, ok, err := c.near.values.GetObject(ctx, name)
	releaseName(buffer)
	if !ok || err != nil {
		return nil, false
	}
	switch kept := e.Object.(type) {
	case *nearValue[V]:
		if c.whole && kept.epoch == c.near.epoch.Load() {
			return &kept.value, true
		}
	case *nearBytes:
		if !c.whole && kept.epoch == c.near.epoch.Load() {
			v, err := c.val.decode(kept.Bytes)
			return v, err == nil
		}
	}
	return nil, false
}

// keep decodes what the server has sent, and keeps a copy. If the view is shared, the result is
// part of the copy.
func (c *KeyCache[K, V]) keep(ctx context.Context, name string, t ticket, data []byte, ttl time.Duration) (*V, error) {
	if !c.whole {
		v, err := c.val.decode(data)
		if err == nil {
			kept := &nearBytes{Bytes: data, epoch: t.epoch}
			kept.Object = kept
			c.near.keep(ctx, name, t, &kept.Entry, ttl)
		}
		return v, err
	}
	kept := &nearValue[V]{object: object[V]{codec: &c.val}, epoch: t.epoch}
	if err := decode(c.val.codec, c.val.form, data, reflect.ValueOf(&kept.value).Elem()); err != nil {
		return nil, err
	}
	kept.Object = kept
	c.near.keep(ctx, name, t, &kept.Entry, ttl)
	return &kept.value, nil
}

// getManyNear is getMany with the near cache, and says whether that had all the values. The server is asked for the
// rest, in one round trip where it can.
func (c *KeyCache[K, V]) getManyNear(ctx context.Context, keys []K, out map[K]V) (hit bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var rest []K
	var names []string
	var tickets []ticket
	for _, key := range keys {
		if v, ok := c.copyOf(ctx, key); ok {
			out[key] = *v
			continue
		}
		name, err := c.key.of(c.prefix, key)
		if err != nil {
			return false, err
		}
		rest, names, tickets = append(rest, key), append(names, name), append(tickets, c.near.ticket(name))
	}
	if len(rest) == 0 {
		return len(keys) > 0, nil
	}
	data, ttls, err := c.near.server.GetManyTTL(ctx, names)
	if err != nil {
		return false, err
	}
	for i, b := range data {
		if b == nil {
			continue
		}
		v, err := c.keep(ctx, names[i], tickets[i], b, ttls[i])
		if err != nil {
			return false, err
		}
		out[rest[i]] = *v
	}
	return false, nil
}
