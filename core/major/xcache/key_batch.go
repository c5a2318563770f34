package xcache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// GetMany returns the values of the keys that exist, in one round trip if the backend
// supports batches. Keys with another kind of value are omitted.
func (c *KeyCache[K, V]) GetMany(ctx context.Context, keys []K) (map[K]V, error) {
	op := c.start(opRead)
	out := make(map[K]V, len(keys))
	var err error
	if c.near == nil && c.m.batcher == nil {
		err = c.getEach(ctx, keys, out)
	} else {
		op.near, err = c.getBatch(ctx, keys, out)
	}
	if err = op.end(ctx, len(out) > 0 || len(keys) == 0, err); err != nil {
		return nil, err
	}
	return out, nil
}

// getBatch reads the values of keys into out: first from the near cache, and the others
// in one round trip. near reports whether all values came from the near cache.
func (c *KeyCache[K, V]) getBatch(
	ctx context.Context, keys []K, out map[K]V,
) (near bool, err error) {
	rest := c.readCopies(ctx, keys, out)
	names, err := c.key.all(ctx, c.prefix, rest)
	if err != nil || len(names) == 0 {
		return err == nil && len(keys) > 0, err
	}
	var data [][]byte
	var ttls []time.Duration
	var tickets []ticket
	if c.near == nil {
		data, err = c.m.batcher.GetMany(ctx, names)
	} else {
		tickets = c.near.tickets(names)
		data, ttls, err = c.near.server.GetManyTTL(ctx, names)
	}
	if err != nil {
		return false, err
	}
	for i, b := range data {
		if b == nil {
			continue
		}
		v, err := c.val.decode(b)
		if err != nil {
			return false, err
		}
		if c.near != nil {
			v = c.keep(ctx, names[i], tickets[i], b, v, ttls[i])
		}
		out[rest[i]] = *v
	}
	return false, nil
}

// readCopies reads values from the near cache into out, and returns the missing keys.
func (c *KeyCache[K, V]) readCopies(ctx context.Context, keys []K, out map[K]V) (rest []K) {
	if c.near == nil {
		return keys
	}
	for _, key := range keys {
		if v, ok := c.copyOf(ctx, key); ok {
			out[key] = *v
		} else {
			rest = append(rest, key)
		}
	}
	return rest
}

// getEach is getBatch for a store without batches, such as an in-process store.
func (c *KeyCache[K, V]) getEach(ctx context.Context, keys []K, out map[K]V) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		v, ok, err := c.read(ctx, key)
		if err != nil && !errors.Is(err, ErrWrongType) {
			return err
		}
		if ok {
			out[key] = *v
		}
	}
	return nil
}

// SetMany writes the values, in one round trip if the backend supports batches. It is not
// atomic: after an error some values may be written. With WithNX or WithXX it returns
// ErrOption, because each key would have a separate outcome.
func (c *KeyCache[K, V]) SetMany(ctx context.Context, items map[K]V, opts ...Option) error {
	op := c.start(opSet)
	return op.end(ctx, true, c.setMany(ctx, items, opts))
}

func (c *KeyCache[K, V]) setMany(ctx context.Context, items map[K]V, opts []Option) error {
	w, err := c.resolve(opts)
	if err != nil {
		return err
	}
	if w.condition != driver.Always {
		return fmt.Errorf("%w: SetMany does not support NX and XX", ErrOption)
	}
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return err
	}
	batch := make([]driver.Item, 0, len(items))
	for key, value := range items {
		k, err := c.key.start(ctx, c.prefix, key)
		if err != nil {
			return err
		}
		c.m.loads.invalidate(k)
		var data []byte
		if c.m.batcher == nil {
			_, err = c.put(ctx, k, &value, w.write(c.m))
		} else if data, err = c.val.encode(&value); err == nil {
			batch = append(batch, driver.Item{Key: k, Value: data, Write: w.write(c.m)})
		}
		if err != nil {
			return err
		}
	}
	if c.m.batcher != nil {
		err = c.m.batcher.SetMany(ctx, batch)
		for i := range batch {
			c.m.near.drop(ctx, batch[i].Key)
		}
	}
	w.done(err == nil)
	return err
}
