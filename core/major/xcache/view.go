package xcache

import (
	"context"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ViewOption configures a typed view. A nil option is skipped.
type ViewOption func(*view)

// WithName sets the name of the view in metrics. The name is not part of a key.
func WithName(name string) ViewOption { return func(v *view) { v.name = name } }

// WithKeyPrefix adds prefix between the manager's prefix and the view's keys, so that
// views with equal keys do not collide.
func WithKeyPrefix(prefix string) ViewOption { return func(v *view) { v.prefix += prefix } }

// WithViewTTL overrides the manager's default TTL for the view; 0 means no expiry.
func WithViewTTL(ttl time.Duration) ViewOption { return func(v *view) { v.ttl = ttl } }

// WithNegativeTTL makes GetOrLoad cache the absence of a value for ttl if the loader
// returns nil. Delete removes this absence mark.
func WithNegativeTTL(ttl time.Duration) ViewOption { return func(v *view) { v.negative = ttl } }

// WithImmutable declares that values are never modified after Set or Get. An in-process
// store, including a near cache, then shares values instead of copying them: Get decodes
// and allocates nothing for any type. Other stores are not affected.
func WithImmutable() ViewOption { return func(v *view) { v.immutable = true } }

// WithoutNear makes a KeyCache bypass the near cache, for values that must not be stale.
func WithoutNear() ViewOption { return func(v *view) { v.near = nil } }

// view is the part of a typed view that does not depend on its types. It is immutable.
type view struct {
	m         *Manager
	name      string
	prefix    string
	ttl       time.Duration
	negative  time.Duration
	immutable bool
	near      *near // nil if every read goes to the store
}

// op is an operation in progress.
type op struct {
	view  *view
	kind  string
	start time.Time
	near  bool // the value came from the near cache
}

// start starts an operation. It reads the clock only if metrics are enabled.
func (v *view) start(kind string) op {
	o := op{view: v, kind: kind}
	if v.m.options.Metrics != nil {
		o.start = time.Now()
	}
	return o
}

// end reports the operation and returns its error, wrapped once. ok reports whether the
// operation found a value or changed one.
func (o op) end(ctx context.Context, ok bool, err error) error {
	err = fail(o.kind, err)
	if o.view.m.options.Metrics != nil {
		o.view.m.options.Metrics(ctx, Event{
			View: o.view.name, Op: o.kind, Outcome: outcome(o.kind, ok, err),
			Latency: time.Since(o.start), Near: o.near, Err: err,
		})
	}
	return err
}

// collection is embedded in all typed views.
type collection[K comparable, V any] struct {
	view
	key text[K]
	val values[V]
}

// newCollection panics on a nil manager, an unsupported key type or a negative TTL.
func newCollection[K comparable, V any](m *Manager, opts []ViewOption) collection[K, V] {
	if m == nil {
		panic("xcache: view on a nil manager")
	}
	v := view{m: m, prefix: m.options.Prefix, ttl: m.ttl, near: m.near}
	for _, o := range opts {
		if o != nil {
			o(&v)
		}
	}
	if v.ttl < 0 || v.negative < 0 {
		panic(fmt.Sprintf("xcache: view %q has a negative TTL", v.name))
	}
	return collection[K, V]{
		view: v, key: newText[K]("key", false), val: newValues[V](m, v.immutable),
	}
}

// call runs do on one key and reports it. ok is the result of do, or false after an
// error.
func (c *collection[K, V]) call(
	ctx context.Context, kind string, key K, do func(name string) (bool, error),
) (ok bool, err error) {
	op := c.start(kind)
	name, err := c.key.start(ctx, c.prefix, key)
	if err == nil {
		ok, err = do(name)
	}
	return ok && err == nil, op.end(ctx, ok, err)
}

// update is call for writes to a part of a hash, set or list.
func (c *collection[K, V]) update(
	ctx context.Context, key K, opts []Option, do func(name string, w driver.Write) (bool, error),
) error {
	w, optErr := c.resolve(opts)
	if !w.explicit && w.ttl == 0 {
		w.keep = true // no TTL to extend
	}
	_, err := c.call(ctx, opSet, key, func(name string) (bool, error) {
		if optErr != nil {
			return false, optErr
		}
		stored, err := do(name, w.write(c.m))
		w.done(stored)
		return stored, err
	})
	return err
}

// Delete removes the key and its value of any kind. It returns nil if the key does not
// exist.
func (c *collection[K, V]) Delete(ctx context.Context, key K) error {
	_, err := c.deleteKeys(ctx, []K{key}, false)
	return err
}

// TTL returns the remaining time to live of the key, 0 if it never expires, and whether
// the key exists.
func (c *collection[K, V]) TTL(ctx context.Context, key K) (ttl time.Duration, ok bool, err error) {
	ok, err = c.call(ctx, opTTL, key, func(name string) (ok bool, err error) {
		ttl, ok, err = c.m.store.TTL(ctx, name)
		return ok, err
	})
	return ttl, ok, err
}

// deleteKeys removes keys of any kind and their absence marks. If counted is set, removed
// does not include the marks.
func (c *collection[K, V]) deleteKeys(
	ctx context.Context, keys []K, counted bool,
) (removed int, err error) {
	op := c.start(opDelete)
	names, err := c.key.all(ctx, c.prefix, keys)
	if err != nil {
		return 0, op.end(ctx, false, err)
	}
	var marks []string
	for _, name := range names {
		c.m.loads.invalidate(name)
		if c.negative > 0 {
			marks = append(marks, name+absent)
		}
	}
	if !counted { // one round trip for both
		names, marks = append(names, marks...), nil
	}
	removed, err = c.m.remove(ctx, names, marks)
	return removed, op.end(ctx, removed > 0, err)
}

func (c *collection[K, V]) value(
	ctx context.Context, kind string, key K, do func(name string) ([]byte, bool, error),
) (v *V, ok bool, err error) {
	ok, err = c.call(ctx, kind, key, func(name string) (bool, error) {
		data, ok, err := do(name)
		if ok && err == nil {
			v, err = c.val.decode(data)
		}
		return ok, err
	})
	return v, ok, err
}

func (c *collection[K, V]) list(
	ctx context.Context, key K, do func(name string) ([][]byte, error),
) (all []V, err error) {
	_, err = c.call(ctx, opRead, key, func(name string) (bool, error) {
		list, err := do(name)
		if err == nil {
			all, err = c.val.decodeAll(list)
		}
		return len(all) > 0, err
	})
	return all, err
}

// count runs an operation that returns a number of elements.
func (c *collection[K, V]) count(
	ctx context.Context, kind string, key K, do func(name string) (int, error),
) (n int, err error) {
	_, err = c.call(ctx, kind, key, func(name string) (bool, error) {
		n, err = do(name)
		return n > 0, err
	})
	return n, err
}

// add runs a write that adds values. It changes nothing if values is empty.
func (c *collection[K, V]) add(
	ctx context.Context, key K, values []V, opts []Option,
	do func(name string, values [][]byte, w driver.Write) (n int, stored bool, err error),
) (n int, err error) {
	err = c.update(ctx, key, opts, func(name string, w driver.Write) (stored bool, err error) {
		list, err := c.val.encodeAll(values)
		if err == nil && len(list) > 0 {
			n, stored, err = do(name, list, w)
		}
		return stored, err
	})
	return n, err
}
