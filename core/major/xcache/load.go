package xcache

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// absent is the suffix of keys that mark a value as absent in the source.
const absent = "\x00absent"

// GetOrLoad returns the value under key. On a miss it calls load, stores the result and
// returns it. Concurrent misses of a key in this manager share one load, and each caller
// gets its own copy. load returns nil if there is no value.
//
// load runs in a separate goroutine. Its context has the values of the first caller's
// context but not its deadline, and is canceled when no caller waits for the load. opts
// configure the write; WithNX, WithXX and WithStored are not supported.
//
// If the context of a caller is done, GetOrLoad returns its error, and the load continues
// for the other callers. All callers get the unwrapped error of load, or a
// *xhook.PanicError if it panics. A Set or Delete of the key during the load has
// precedence. A value that cannot be decoded is loaded again.
func (c *KeyCache[K, V]) GetOrLoad(
	ctx context.Context, key K, load func(ctx context.Context) (*V, error), opts ...Option,
) (*V, bool, error) {
	w, err := c.resolve(opts)
	if err == nil && w.condition != driver.Always {
		err = fmt.Errorf("%w: GetOrLoad does not support NX and XX", ErrOption)
	}
	if err != nil {
		return nil, false, c.start(opLoad).end(ctx, false, err)
	}
	v, ok, err := c.Get(ctx, key)
	if ok || !c.mayLoad(ctx, err) {
		return v, ok, err
	}
	if !errors.Is(err, ErrDecode) {
		// keep a newer value that another process wrote in the meantime
		w.condition = driver.IfAbsent
	}
	write := w.write(c.m)
	name, err := c.key.of(c.prefix, key)
	if err != nil {
		return nil, false, fail(opLoad, err)
	}
	k := inFlightKey{key: name, typ: reflect.TypeFor[V](), shared: c.immutable}
	result, err := c.m.loads.do(ctx, k, func(ctx context.Context, fl *inFlight) (any, error) {
		return c.load(ctx, key, name, fl, load, write)
	})
	if err != nil {
		return nil, false, err
	}
	if data, encoded := result.([]byte); encoded {
		v, err = c.val.decode(data)
		return v, err == nil, fail(opLoad, err)
	}
	v, _ = result.(*V) // an immutable view, or nil
	return v, v != nil, nil
}

// mayLoad reports whether GetOrLoad calls the loader after Get found no value or returned
// err.
func (c *KeyCache[K, V]) mayLoad(ctx context.Context, err error) bool {
	switch {
	case err == nil || ctx.Err() != nil:
		return err == nil
	case errors.Is(err, ErrDecode):
		return true
	default:
		return c.m.options.FailOpen && !errors.Is(err, ErrWrongType) && !errors.Is(err, ErrEncode)
	}
}

// load runs the loader, stores its result and returns a snapshot of it.
func (c *KeyCache[K, V]) load(
	ctx context.Context, key K, name string, fl *inFlight,
	load func(ctx context.Context) (*V, error), w driver.Write,
) (any, error) {
	// Another load may have finished after this caller's read.
	if v, ok, err := c.read(ctx, key); ok && err == nil {
		return c.snapshot(v)
	}
	if known, err := c.knownAbsent(ctx, name); known || err != nil {
		return nil, err
	}
	op := c.start(opLoad)
	v, err := load(ctx)
	_ = op.end(ctx, v != nil, err) // the loader's error is returned unwrapped
	if err != nil {
		return nil, err
	}
	loaded, err := c.snapshot(v)
	if err != nil {
		return nil, err
	}
	err = fl.store(func() error { return c.putLoaded(ctx, name, v, w) })
	return loaded, c.tolerate(ctx, err)
}

// tolerate reports an error of the backend to the metrics. It returns nil if GetOrLoad
// fails open.
func (c *KeyCache[K, V]) tolerate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = c.start(opSet).end(ctx, false, err)
	if c.m.options.FailOpen && ctx.Err() == nil {
		return nil
	}
	return err
}

// snapshot returns what the callers share: v itself in an immutable view, and otherwise
// its encoding, because the loader and the callers may modify their values. A nil v is
// returned unchanged.
func (c *KeyCache[K, V]) snapshot(v *V) (any, error) {
	if c.immutable || v == nil {
		return v, nil
	}
	data, err := c.val.encode(v)
	return data, fail(opLoad, err)
}

// knownAbsent reports whether the key has an absence mark.
func (c *KeyCache[K, V]) knownAbsent(ctx context.Context, name string) (bool, error) {
	if c.negative == 0 {
		return false, nil
	}
	known, err := c.m.store.Exists(ctx, name+absent)
	return known, c.tolerate(ctx, err)
}

// putLoaded stores v, or an absence mark if v is nil.
func (c *KeyCache[K, V]) putLoaded(
	ctx context.Context, name string, v *V, w driver.Write,
) (err error) {
	switch {
	case v != nil:
		_, err = c.put(ctx, name, v, w)
	case c.negative > 0:
		_, err = c.m.store.Set(ctx, name+absent, []byte{},
			driver.Write{TTL: c.m.effectiveTTL(c.negative)})
	}
	return err
}
