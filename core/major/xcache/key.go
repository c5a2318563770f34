package xcache

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// KeyCache holds one value under each key. It is safe for concurrent use and costs little to make. Where
// the manager has a near cache, Get, GetMany and GetOrLoad ask it first.
type KeyCache[K comparable, V any] struct {
	view
	key     text[K]
	val     values[V]
	objects driver.ObjectStore // nil where values of V are kept as bytes
	near    *near              // nil where every read goes to the store
	whole   bool               // a value may be kept undecoded
	lends   bool               // what find returns is the cache's own
	find    func(ctx context.Context, key K) (v *V, ok bool, err error)
	typ     reflect.Type
}

// KeyCacheOf returns the view on m whose keys are K and whose values are V. It panics where K is no
// string, no integer, and has no text of its own.
func KeyCacheOf[K comparable, V any](m *Manager, opts ...ViewOption) *KeyCache[K, V] {
	c := &KeyCache[K, V]{view: newView(m, opts), key: newText[K]("key"), val: newValues[V](m), typ: reflect.TypeFor[V]()}
	c.whole = c.immutable || c.val.plain
	if c.whole {
		c.objects = m.objects
	}
	c.find = c.read
	if m.near != nil && !c.noNear {
		c.near, c.find = m.near, c.readNear
	}
	c.lends = c.whole && !c.immutable && (c.objects != nil || c.near != nil)
	return c
}

// Get returns the value under key, and whether there is one.
//
// The compiler inlines it, though only just: so the copy stays on the stack of a caller who does not let
// it escape, and costs no allocation.
func (c *KeyCache[K, V]) Get(ctx context.Context, key K) (v *V, ok bool, err error) {
	if v, ok, err = c.find(ctx, key); ok && c.lends {
		v = unsafe.SliceData([]V{*v}) //nolint:gosec // a copy, in words that are cheap enough to inline
	}
	return
}

// read is Get without the copy that the caller needs where the view lends.
func (c *KeyCache[K, V]) read(ctx context.Context, key K) (*V, bool, error) {
	op := c.begin(OpGet)
	v, ok, err := c.get(ctx, key)
	if err != nil || op.watched() {
		err = op.end(ctx, found(ok), err)
	}
	return v, ok, err
}

func (c *KeyCache[K, V]) get(ctx context.Context, key K) (*V, bool, error) {
	if c.near != nil {
		v, ok, _, err := c.getNear(ctx, key)
		return v, ok, err
	}
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if c.objects != nil {
		return c.getObject(ctx, key)
	}
	k, err := c.key.of(c.prefix, key)
	if err != nil {
		return nil, false, err
	}
	data, ok, err := c.m.store.Get(ctx, k)
	if err != nil || !ok {
		return nil, false, err
	}
	return c.decoded(data)
}

func (c *KeyCache[K, V]) decoded(data []byte) (*V, bool, error) {
	v, err := c.val.decode(data)
	return v, err == nil, err
}

// getObject is get from a store in the process.
func (c *KeyCache[K, V]) getObject(ctx context.Context, key K) (*V, bool, error) {
	o, ok, err := c.object(ctx, c.objects, key)
	if err != nil || !ok {
		return nil, false, err
	}
	if kept, same := o.(*object[V]); same {
		return &kept.value, true, nil
	}
	data, err := o.Encode()
	if err != nil {
		return nil, false, err
	}
	return c.decoded(data)
}

// object asks a store in the process. The key is built in a buffer, since the store does not keep it.
func (c *KeyCache[K, V]) object(ctx context.Context, store driver.ObjectStore, key K) (o driver.Object, ok bool, err error) {
	if c.key.direct && c.prefix == "" {
		return store.GetObject(ctx, asString(key))
	}
	b, _ := buffers.Get().(*[]byte)
	k := append((*b)[:0], c.prefix...)
	if k, err = c.key.append(k, key); err == nil {
		name := unsafe.String(unsafe.SliceData(k), len(k)) //nolint:gosec // the store does not keep it
		o, ok, err = store.GetObject(ctx, name)
	} else {
		err = keyError(err)
	}
	if cap(k) <= maxBuffer {
		*b = k
	}
	buffers.Put(b)
	return o, ok, err
}

// maxBuffer is the largest key whose buffer is kept for the next.
const maxBuffer = 1 << 12

var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 128); return &b }}

// Set writes the value under key, whatever the key held.
func (c *KeyCache[K, V]) Set(ctx context.Context, key K, value *V, opts ...Option) error {
	op := c.begin(OpSet)
	stored, err := c.set(ctx, key, value, opts)
	return op.end(ctx, wrote(stored), err)
}

func (c *KeyCache[K, V]) set(ctx context.Context, key K, value *V, opts []Option) (bool, error) {
	w, err := c.resolve(opts)
	if err != nil {
		return false, err
	}
	k, err := c.prepare(ctx, key)
	if err != nil {
		return false, err
	}
	if value == nil {
		return false, ErrNil
	}
	c.m.flights.spoil(k)
	stored, err := c.put(ctx, k, value, w.Write)
	w.done(stored)
	return stored, err
}

// put writes a value that is not nil under a whole key.
func (c *KeyCache[K, V]) put(ctx context.Context, key string, value *V, w driver.Write) (bool, error) {
	if c.objects != nil && (c.immutable || !c.val.check || faithful(reflect.ValueOf(value).Elem())) {
		return c.objects.SetObject(ctx, key, &object[V]{value: *value, codec: &c.val}, w)
	}
	data, err := c.val.encode(value)
	if err != nil {
		return false, err
	}
	stored, err := c.m.store.Set(ctx, key, data, w)
	c.m.near.drop(ctx, key)
	return stored, err
}

// Exists reports whether the key holds a value of any kind.
func (c *KeyCache[K, V]) Exists(ctx context.Context, key K) (ok bool, err error) {
	op := c.begin(OpExists)
	k, err := c.prepare(ctx, key)
	if err == nil {
		ok, err = c.m.store.Exists(ctx, k)
	}
	return ok, op.end(ctx, found(ok), err)
}

// TTL returns how long the key will live, 0 for ever, and whether it exists.
func (c *KeyCache[K, V]) TTL(ctx context.Context, key K) (time.Duration, bool, error) {
	return keyTTL(ctx, &c.view, &c.key, key)
}

// Delete removes the key, whatever it holds. A key that does not exist is no error.
func (c *KeyCache[K, V]) Delete(ctx context.Context, key K) error {
	_, err := deleteKeys(ctx, &c.view, &c.key, []K{key}, false)
	return err
}

// DeleteMany removes keys in one call, and counts those that existed.
func (c *KeyCache[K, V]) DeleteMany(ctx context.Context, keys []K) (removed int, err error) {
	return deleteKeys(ctx, &c.view, &c.key, keys, true)
}

// GetMany returns the values of the keys that have one, in one round trip where the backend can. A key
// that holds another kind of value has none.
func (c *KeyCache[K, V]) GetMany(ctx context.Context, keys []K) (map[K]V, error) {
	op := c.begin(OpRead)
	out := make(map[K]V, len(keys))
	var err error
	if c.near != nil {
		op.near, err = c.getManyNear(ctx, keys, out)
	} else {
		err = c.getMany(ctx, keys, out)
	}
	if err != nil {
		out = nil
	}
	return out, op.end(ctx, found(len(out) > 0 || len(keys) == 0), err)
}

func (c *KeyCache[K, V]) getMany(ctx context.Context, keys []K, out map[K]V) error {
	if len(keys) == 0 {
		return ctx.Err()
	}
	if c.m.batcher == nil {
		return c.getEach(ctx, keys, out)
	}
	names, err := c.key.all(ctx, c.prefix, keys)
	if err != nil {
		return err
	}
	data, err := c.m.batcher.GetMany(ctx, names)
	if err != nil {
		return err
	}
	for i, b := range data {
		if b == nil {
			continue
		}
		v, err := c.val.decode(b)
		if err != nil {
			return err
		}
		out[keys[i]] = *v
	}
	return nil
}

// getEach is getMany without batches, which is as good in the process.
func (c *KeyCache[K, V]) getEach(ctx context.Context, keys []K, out map[K]V) error {
	for _, key := range keys {
		v, ok, err := c.get(ctx, key)
		if err != nil && !errors.Is(err, ErrWrongType) {
			return err
		}
		if ok {
			out[key] = *v
		}
	}
	return nil
}

// SetMany writes the values, in one round trip where the backend can. Each is written by itself: where
// the call fails, some may have been. WithNX and WithXX are refused, since their outcomes would be many.
func (c *KeyCache[K, V]) SetMany(ctx context.Context, items map[K]V, opts ...Option) error {
	op := c.begin(OpSet)
	return op.end(ctx, Done, c.setMany(ctx, items, opts))
}

func (c *KeyCache[K, V]) setMany(ctx context.Context, items map[K]V, opts []Option) error {
	w, err := c.resolve(opts)
	if err != nil {
		return err
	}
	if w.If != driver.Always {
		return errManyConditions
	}
	if err := ctx.Err(); err != nil || len(items) == 0 {
		return err
	}
	batch := make([]driver.Item, 0, len(items))
	for key, value := range items {
		k, err := c.prepare(ctx, key)
		if err != nil {
			return err
		}
		c.m.flights.spoil(k)
		own := driver.Write{TTL: c.m.life(w.asked), Keep: w.Keep} // with a jitter of its own
		if c.m.batcher == nil {
			if _, err := c.put(ctx, k, &value, own); err != nil {
				return err
			}
			continue
		}
		data, err := c.val.encode(&value)
		if err != nil {
			return err
		}
		batch = append(batch, driver.Item{Key: k, Value: data, Write: own})
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

// prepare returns the whole key for a call that may begin.
func (c *KeyCache[K, V]) prepare(ctx context.Context, key K) (string, error) {
	return c.key.begin(ctx, c.prefix, key)
}
