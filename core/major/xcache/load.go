package xcache

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// absent is what a key's name ends with where GetOrLoad remembers that the loader found
// nothing.
const absent = "\x00absent"

// GetOrLoad returns the value under key; where there is none it asks load and keeps what
// comes back. However many callers of this manager miss the key at the same time, it is
// loaded once, and each gets a value of its own. A nil value says that there is none.
//
// load runs in a goroutine of its own, for all callers that wait for the key: ctx has the
// values of the caller that came first, without its deadline, and ends if no caller waits
// any longer. The options are for the write; WithNX, WithXX and WithStored have no place
// here.
//
// A caller whose context ends gets the context's error, and the load goes on for the
// others. All get the loader's error as it is, or a *xhook.PanicError. A Set or Delete of
// the key during the load wins over it. A value that cannot be decoded is loaded anew.
func (c *KeyCache[K, V]) GetOrLoad(
	ctx context.Context, key K, load func(ctx context.Context) (*V, error), opts ...Option,
) (*V, bool, error) {
	w, err := c.resolve(opts)
	if err == nil && w.condition != driver.Always {
		err = fmt.Errorf("%w: GetOrLoad writes what is not there, so NX and XX have no place",
			ErrOption)
	}
	if err != nil {
		return nil, false, c.begin(opLoad).end(ctx, false, err)
	}
	v, ok, err := c.Get(ctx, key)
	if ok || !c.mayLoad(ctx, err) {
		return v, ok, err
	}
	if !errors.Is(err, ErrDecode) {
		w.condition = driver.IfAbsent // what another process wrote meanwhile is newer
	}
	write := w.write(c.m)
	name, err := c.key.of(c.prefix, key)
	if err != nil {
		return nil, false, fail(opLoad, err)
	}
	k := inFlightKey{key: name, typ: reflect.TypeFor[V](), shared: c.immutable}
	outcome, err := c.m.loads.do(ctx, k, func(ctx context.Context, fl *inFlight) (any, error) {
		return c.load(ctx, key, name, fl, load, write)
	})
	if err != nil {
		return nil, false, err
	}
	if data, encoded := outcome.([]byte); encoded {
		v, err = c.val.decode(data)
		return v, err == nil, fail(opLoad, err)
	}
	v, _ = outcome.(*V) // of an immutable view, or nil
	return v, v != nil, nil
}

// mayLoad reports whether GetOrLoad loads after a Get that found nothing, or failed with
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

// load runs the loader for all who wait, writes what it found, and returns the snapshot
// of that.
func (c *KeyCache[K, V]) load(
	ctx context.Context, key K, name string, fl *inFlight,
	load func(ctx context.Context) (*V, error), w driver.Write,
) (any, error) {
	// The caller missed the key before it joined: another load may have ended in between.
	if v, ok, err := c.read(ctx, key); ok && err == nil {
		return c.snapshot(v)
	}
	if known, err := c.knownAbsent(ctx, name); known || err != nil {
		return nil, err
	}
	op := c.begin(opLoad)
	v, err := load(ctx)
	_ = op.end(ctx, v != nil, err) // the loader's error goes back as it is
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

// tolerate reports a failure of the backend, and returns nil for it if GetOrLoad fails
// open.
func (c *KeyCache[K, V]) tolerate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = c.begin(opSet).end(ctx, false, err)
	if c.m.options.FailOpen && ctx.Err() == nil {
		return nil
	}
	return err
}

// snapshot returns what each caller of a load gets its value from: in an immutable view
// the value itself, else its encoding, since the loader and the callers may change
// theirs. Nil stays nil.
func (c *KeyCache[K, V]) snapshot(v *V) (any, error) {
	if c.immutable || v == nil {
		return v, nil
	}
	data, err := c.val.encode(v)
	return data, fail(opLoad, err)
}

// knownAbsent reports whether a loader found nothing a short time ago.
func (c *KeyCache[K, V]) knownAbsent(ctx context.Context, name string) (bool, error) {
	if c.negative == 0 {
		return false, nil
	}
	known, err := c.m.store.Exists(ctx, name+absent)
	return known, c.tolerate(ctx, err)
}

// putLoaded writes what the loader found, or that it found nothing.
func (c *KeyCache[K, V]) putLoaded(
	ctx context.Context, name string, v *V, w driver.Write,
) (err error) {
	switch {
	case v != nil:
		_, err = c.put(ctx, name, v, w)
	case c.negative > 0:
		_, err = c.m.store.Set(ctx, name+absent, []byte{}, driver.Write{TTL: c.m.life(c.negative)})
	}
	return err
}
