package xcache

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Keys iterates over the keys with the view's prefix, for values of any kind. Prefixes
// are literal, not patterns. Each key is returned once, without the prefix, in no
// particular order. Internal keys, such as lease records and absence marks, are skipped.
//
// The iteration does not block the backend or other callers, and it is not a snapshot: a
// key that is added or removed during the iteration may or may not be returned. Memory
// grows with the number of returned keys. An error of the backend stops the iteration. It
// is ErrUnsupported if the backend cannot iterate over keys.
//
// A key that is not the string form of a K yields ErrDecode, and the iteration continues.
// Such a key belongs to another view. If K cannot be parsed, for example because it has
// only a String method, the only result is ErrUnsupported.
func (c *collection[K, V]) Keys(ctx context.Context) iter.Seq2[K, error] {
	return func(yield func(K, error) bool) {
		op := c.start(opScan)
		seen := map[string]struct{}{}
		yieldNew := func(page []string) bool {
			for _, name := range page {
				if _, duplicate := seen[name]; duplicate || c.m.isInternal(name) {
					continue
				}
				seen[name] = struct{}{}
				if !yield(c.key.readBack(name[len(c.prefix):])) {
					return false
				}
			}
			return true
		}
		var zero K
		var err error
		if !c.key.readable {
			err = fmt.Errorf("%w: keys of type %T cannot be parsed", ErrUnsupported, zero)
		} else {
			err = c.m.walk(ctx, c.prefix, yieldNew)
		}
		if err = op.end(ctx, len(seen) > 0, err); err != nil {
			yield(zero, err)
		}
	}
}

// Clear removes every key with the view's prefix, of any kind and view, and returns how
// many existed. Without WithKeyPrefix these are all keys of the manager. If the manager
// has no prefix either, Clear returns ErrOption, because it would empty the database.
// Leases are kept.
//
// Clear removes keys in batches and is not atomic: a key that is written during the call
// may be removed or kept. Loads that started earlier return their value to their callers
// but do not store it. After an error some keys are removed.
func (v *view) Clear(ctx context.Context) (removed int, err error) {
	op := v.start(opClear)
	if v.prefix == "" {
		err = fmt.Errorf("%w: Clear without a prefix would empty the whole database; "+
			"set WithKeyPrefix or the prefix of the manager", ErrOption)
		return 0, op.end(ctx, false, err)
	}
	v.m.loads.invalidateMatching(func(key string) bool { return strings.HasPrefix(key, v.prefix) })
	var removeErr error
	err = v.m.walk(ctx, v.prefix, func(page []string) bool {
		var n int
		n, removeErr = v.m.removePage(ctx, page)
		removed += n
		return removeErr == nil
	})
	return removed, op.end(ctx, removed > 0, cmp.Or(removeErr, err))
}

// walk calls page with batches of complete keys that start with prefix, including
// internal keys. It returns nil if page returns false.
func (m *Manager) walk(ctx context.Context, prefix string, page func(keys []string) bool) error {
	s, ok := m.store.(driver.Scanner)
	if !ok {
		return fmt.Errorf("%w: %s cannot iterate over keys", ErrUnsupported, m)
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

// isInternal reports whether a complete key is an absence mark or a lease record.
func (m *Manager) isInternal(key string) bool {
	return strings.HasSuffix(key, absent) ||
		strings.Contains(key[len(m.options.Prefix):], leaseMark)
}

// removePage removes the keys of a page except lease records, and counts those that are
// not internal.
func (m *Manager) removePage(ctx context.Context, page []string) (removed int, err error) {
	var keys, marks []string
	for _, key := range page {
		switch {
		case strings.HasSuffix(key, absent):
			marks = append(marks, key)
		case !m.isInternal(key):
			keys = append(keys, key)
		}
	}
	return m.remove(ctx, keys, marks)
}

// remove removes absence marks and keys of any kind, and counts the keys.
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
