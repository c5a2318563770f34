package xcache

import (
	"context"
	"errors"
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

	epoch uint64
}

// readNear is read with the near cache.
func (c *KeyCache[K, V]) readNear(ctx context.Context, key K) (*V, bool, error) {
	op := c.begin(OpGet)
	v, ok, hit, err := c.getNear(ctx, key)
	if err != nil || op.watched() {
		op.near = hit
		err = op.end(ctx, found(ok), err)
	}
	return v, ok, err
}

// getNear is get with the near cache, and says whether that had the value.
func (c *KeyCache[K, V]) getNear(ctx context.Context, key K) (v *V, ok, hit bool, err error) {
	if err = ctx.Err(); err != nil {
		return nil, false, false, err
	}
	if v, ok, err = c.copyOf(ctx, key); ok || err != nil {
		return v, ok, ok, err
	}
	name, err := c.key.of(c.prefix, key)
	if err != nil {
		return nil, false, false, err
	}
	t := c.near.ticket(name)
	data, ttl, ok, err := c.near.read(ctx, name)
	if err != nil || !ok {
		return nil, false, false, err
	}
	v, err = c.keep(ctx, name, t, data, ttl)
	return v, err == nil, false, err
}

// copyOf asks the near cache alone. Where that fails, the server is asked.
func (c *KeyCache[K, V]) copyOf(ctx context.Context, key K) (*V, bool, error) {
	o, ok, err := c.object(ctx, c.near.values, key)
	if !ok || err != nil {
		return nil, false, nil //nolint:nilerr // the server decides
	}
	switch kept := o.(type) {
	case *nearValue[V]:
		if c.whole && kept.epoch == c.near.epoch.Load() {
			return &kept.value, true, nil
		}
	case *nearBytes:
		if !c.whole && kept.epoch == c.near.epoch.Load() {
			return c.decoded(kept.Bytes)
		}
	}
	return nil, false, nil
}

// keep decodes what the server has sent, and keeps a copy. The result is the copy's own where the view lends.
func (c *KeyCache[K, V]) keep(ctx context.Context, name string, t ticket, data []byte, ttl time.Duration) (*V, error) {
	if !c.whole {
		v, err := c.val.decode(data)
		if err == nil {
			c.near.keep(ctx, name, t, &nearBytes{Bytes: data, epoch: t.epoch}, ttl)
		}
		return v, err
	}
	kept := &nearValue[V]{object: object[V]{codec: &c.val}, epoch: t.epoch}
	if err := decode(c.val.codec, c.val.form, data, reflect.ValueOf(&kept.value).Elem()); err != nil {
		return nil, err
	}
	c.near.keep(ctx, name, t, kept, ttl)
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
		v, ok, err := c.copyOf(ctx, key)
		if err != nil {
			return false, err
		}
		if ok {
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
	data, ttls, err := c.near.readMany(ctx, names)
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

// readMany is read for many; nil is a missing value, as in driver.Batcher.
func (n *near) readMany(ctx context.Context, keys []string) (values [][]byte, ttls []time.Duration, err error) {
	if n.lives != nil {
		return n.lives.GetManyTTL(ctx, keys)
	}
	ttls = make([]time.Duration, len(keys))
	if n.batcher != nil {
		values, err = n.batcher.GetMany(ctx, keys)
		return values, ttls, err
	}
	values = make([][]byte, len(keys))
	for i, key := range keys {
		value, ok, err := n.server.Get(ctx, key)
		switch {
		case err != nil && !errors.Is(err, ErrWrongType):
			return nil, nil, err
		case ok && value == nil:
			values[i] = []byte{}
		case ok:
			values[i] = value
		}
	}
	return values, ttls, nil
}
