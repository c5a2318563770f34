package xcache

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Keys walks through the keys of the view: what begins with its prefixes, which are no
// patterns, whatever kind of value it holds. It gives each once, in no order and without
// the prefixes. What this package keeps beside them is left out: the records of leases,
// and what GetOrLoad remembers as absent.
//
// The backend is not held up, and other callers are not. So the walk is no snapshot: a
// key that exists all the while is in it, one that comes or goes meanwhile may be. It
// remembers what it has given, which for very many keys is memory. The first error of the
// backend ends it: ErrUnsupported if it has no such walk.
//
// A key that is the text of no K comes with ErrDecode, and the walk goes on; it belongs
// to another view. A K that says its text and cannot read it back, such as one with
// String alone, has no walk: the first and only error is ErrUnsupported.
func (c *collection[K, V]) Keys(ctx context.Context) iter.Seq2[K, error] {
	return func(yield func(K, error) bool) {
		op := c.begin(opScan)
		given := map[string]struct{}{}
		giveNew := func(page []string) bool {
			for _, name := range page {
				if _, twice := given[name]; twice || c.m.owns(name) {
					continue
				}
				given[name] = struct{}{}
				if !yield(c.key.readBack(name[len(c.prefix):])) {
					return false
				}
			}
			return true
		}
		var none K
		var err error
		if !c.key.readable {
			err = fmt.Errorf("%w: a key of type %T cannot be read back from its text",
				ErrUnsupported, none)
		} else {
			err = c.m.walk(ctx, c.prefix, giveNew)
		}
		if err = op.end(ctx, len(given) > 0, err); err != nil {
			yield(none, err)
		}
	}
}

// Clear removes every key that begins with the view's prefixes, of whatever kind and
// view, and counts those that existed. Without WithKeyPrefix these are all keys of the
// manager; where the manager has no prefix either, Clear refuses with ErrOption, since it
// would empty the whole database. Leases stay.
//
// It walks as Keys does and removes some keys at a time: a key that is written meanwhile
// may stay or go. A load that has begun before goes to those who wait for it, but not
// into the cache. After an error some keys are gone.
func (v *view) Clear(ctx context.Context) (removed int, err error) {
	op := v.begin(opClear)
	if v.prefix == "" {
		err = fmt.Errorf("%w: Clear of a view without a prefix would empty the whole database; give it or the manager one", ErrOption)
		return 0, op.end(ctx, false, err)
	}
	v.m.loads.invalidateMatching(func(key string) bool { return strings.HasPrefix(key, v.prefix) })
	var failed error
	err = v.m.walk(ctx, v.prefix, func(page []string) bool {
		var n int
		n, failed = v.m.removePage(ctx, page)
		removed += n
		return failed == nil
	})
	return removed, op.end(ctx, removed > 0, cmp.Or(failed, err))
}

// walk calls page with whole keys that begin with prefix, those of this package too, some
// at a time, until it returns false. The error is nil then.
func (m *Manager) walk(ctx context.Context, prefix string, page func(keys []string) bool) error {
	s, ok := m.store.(driver.Scanner)
	if !ok {
		return fmt.Errorf("%w: %s does not walk through its keys", ErrUnsupported, m)
	}
	stopped := false
	err := s.Scan(ctx, prefix, func(keys []string) bool {
		stopped = stopped || ctx.Err() == nil && !page(keys)
		return !stopped && ctx.Err() == nil
	})
	if stopped {
		return nil
	}
	return cmp.Or(err, ctx.Err())
}

// owns reports whether a whole key is one that this package made for itself.
func (m *Manager) owns(key string) bool {
	return strings.HasSuffix(key, absent) ||
		strings.Contains(key[len(m.options.Prefix):], leaseMark)
}

// removePage removes keys that a walk has found, counts them, and leaves those of leases.
func (m *Manager) removePage(ctx context.Context, page []string) (removed int, err error) {
	var keys, marks []string
	for _, key := range page {
		switch {
		case strings.HasSuffix(key, absent):
			marks = append(marks, key)
		case !m.owns(key):
			keys = append(keys, key)
		}
	}
	return m.remove(ctx, keys, marks)
}

// remove removes marks of absence, and keys of any kind, which it counts.
func (m *Manager) remove(ctx context.Context, keys, marks []string) (removed int, err error) {
	if len(marks) > 0 {
		if _, err := m.store.Delete(ctx, marks...); err != nil {
			return 0, err
		}
	}
	if len(keys) == 0 {
		return 0, nil
	}
	removed, err = m.store.Delete(ctx, keys...)
	m.near.drop(ctx, keys...)
	return removed, err
}
