// Package collections implements the hashes, sets and lists of the memory store. The
// store embeds Methods and provides the access to its keys.
package collections

import (
	"bytes"
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Collection is a hash, set or list. It is read in View and modified in Change.
type Collection interface {
	driver.Object
	// Len returns the number of fields, members or elements.
	Len() int
}

// View calls f with the value of key, or nil, while no other goroutine modifies it.
type View func(ctx context.Context, key string, f func(value driver.Object) error) error

// Change calls f with the value of key, or nil, while no other goroutine uses it. It
// stores the collection that f returns, which may be the same one, or removes it if it is
// empty. If f returns nil or an error, the key is unchanged.
type Change func(ctx context.Context, key string, w driver.Write,
	f func(value driver.Object) (Collection, error)) error

// Methods implements the methods of driver.Store for hashes, sets and lists.
type Methods struct {
	view   View
	change Change
}

// New returns the methods of a store.
func New(view View, change Change) Methods { return Methods{view, change} }

// notPlain implements driver.Object for collections, which are not plain values.
type notPlain struct{}

// Encode implements driver.Object.
func (notPlain) Encode() ([]byte, error) { return nil, driver.ErrWrongType }

type hash struct {
	notPlain
	fields map[string][]byte
}

type set struct {
	notPlain
	members map[string]struct{}
}

type list struct {
	notPlain
	deque
}

// Len implements Collection.
func (h *hash) Len() int { return len(h.fields) }

// Len implements Collection.
func (s *set) Len() int { return len(s.members) }

// as returns the collection in value, or ErrWrongType.
func as[C Collection](value driver.Object) (c C, exists bool, err error) {
	if value == nil {
		return c, false, nil
	}
	c, exists = value.(C)
	if !exists {
		return c, false, driver.ErrWrongType
	}
	return c, true, nil
}

// read calls f with the value of key if it exists.
func read[C Collection](ctx context.Context, m Methods, key string, f func(C)) error {
	return m.view(ctx, key, func(value driver.Object) error {
		c, exists, err := as[C](value)
		if exists {
			f(c)
		}
		return err
	})
}

// shrink is like read, but f may remove elements.
func shrink[C Collection](ctx context.Context, m Methods, key string, f func(C)) error {
	return m.change(ctx, key, driver.Write{KeepTTL: true},
		func(value driver.Object) (Collection, error) {
			c, exists, err := as[C](value)
			if !exists {
				return nil, err
			}
			f(c)
			return c, nil
		})
}

// grow calls f with the value of key or an empty collection, and stores it unless f
// returns false.
func grow[C Collection](
	ctx context.Context, m Methods, key string, w driver.Write, empty func() C,
	f func(c C, exists bool) bool,
) (stored bool, err error) {
	err = m.change(ctx, key, w, func(value driver.Object) (Collection, error) {
		c, exists, err := as[C](value)
		if err != nil {
			return nil, err
		}
		if !exists {
			c = empty()
		}
		if stored = f(c, exists); !stored {
			return nil, nil
		}
		return c, nil
	})
	return stored, err
}

// HashGet implements driver.Store.
func (m Methods) HashGet(
	ctx context.Context, key, field string,
) (value []byte, ok bool, err error) {
	err = read(ctx, m, key, func(h *hash) { value, ok = h.fields[field] })
	return value, ok, err
}

// HashGetAll implements driver.Store.
func (m Methods) HashGetAll(ctx context.Context, key string) (out []driver.Field, err error) {
	err = read(ctx, m, key, func(h *hash) {
		out = make([]driver.Field, 0, len(h.fields))
		for name, value := range h.fields {
			out = append(out, driver.Field{Name: name, Value: value})
		}
	})
	return out, err
}

// HashSet implements driver.Store.
func (m Methods) HashSet(
	ctx context.Context, key string, fields []driver.Field, remove []string, w driver.Write,
) (bool, error) {
	empty := func() *hash { return &hash{fields: make(map[string][]byte, len(fields))} }
	return grow(ctx, m, key, w, empty, func(h *hash, _ bool) bool {
		for _, f := range fields {
			if _, exists := h.fields[f.Name]; !w.If.Holds(exists) {
				return false
			}
		}
		for _, f := range fields {
			h.fields[f.Name] = f.Value
		}
		for _, name := range remove {
			delete(h.fields, name)
		}
		return true
	})
}

// HashExists implements driver.Store.
func (m Methods) HashExists(ctx context.Context, key, field string) (ok bool, err error) {
	err = read(ctx, m, key, func(h *hash) { _, ok = h.fields[field] })
	return ok, err
}

// HashRemove implements driver.Store.
func (m Methods) HashRemove(
	ctx context.Context, key string, fields ...string,
) (removed int, err error) {
	err = shrink(ctx, m, key, func(h *hash) {
		before := len(h.fields)
		for _, name := range fields {
			delete(h.fields, name)
		}
		removed = before - len(h.fields)
	})
	return removed, err
}

// SetAdd implements driver.Store.
func (m Methods) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	empty := func() *set { return &set{members: make(map[string]struct{}, len(members))} }
	stored, err = grow(ctx, m, key, w, empty, func(s *set, exists bool) bool {
		if !w.If.Holds(exists) {
			return false
		}
		before := len(s.members)
		for _, member := range members {
			s.members[string(member)] = struct{}{}
		}
		added = len(s.members) - before
		return true
	})
	return added, stored, err
}

// SetMembers implements driver.Store.
func (m Methods) SetMembers(ctx context.Context, key string) (out [][]byte, err error) {
	err = read(ctx, m, key, func(s *set) {
		out = make([][]byte, 0, len(s.members))
		for member := range s.members {
			out = append(out, []byte(member))
		}
	})
	return out, err
}

// SetContains implements driver.Store.
func (m Methods) SetContains(ctx context.Context, key string, member []byte) (ok bool, err error) {
	err = read(ctx, m, key, func(s *set) { _, ok = s.members[string(member)] })
	return ok, err
}

// SetCount implements driver.Store.
func (m Methods) SetCount(ctx context.Context, key string) (n int, err error) {
	err = read(ctx, m, key, func(s *set) { n = len(s.members) })
	return n, err
}

// SetRemove implements driver.Store.
func (m Methods) SetRemove(
	ctx context.Context, key string, members ...[]byte,
) (removed int, err error) {
	err = shrink(ctx, m, key, func(s *set) {
		before := len(s.members)
		for _, member := range members {
			delete(s.members, string(member))
		}
		removed = before - len(s.members)
	})
	return removed, err
}

// ListPush implements driver.Store.
func (m Methods) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	stored, err = grow(ctx, m, key, w, func() *list { return &list{} },
		func(l *list, exists bool) bool {
			if !w.If.Holds(exists) {
				return false
			}
			l.push(end, values)
			length = l.Len()
			return true
		})
	return length, stored, err
}

// ListRange implements driver.Store.
func (m Methods) ListRange(
	ctx context.Context, key string, start, stop int,
) (out [][]byte, err error) {
	err = read(ctx, m, key, func(l *list) {
		n := l.Len()
		if start < 0 {
			start = max(start+n, 0)
		}
		if stop < 0 {
			stop += n
		}
		if stop = min(stop, n-1); start <= stop {
			out = append(out, l.items()[start:stop+1]...)
		}
	})
	return out, err
}

// ListIndex implements driver.Store.
func (m Methods) ListIndex(
	ctx context.Context, key string, index int,
) (value []byte, ok bool, err error) {
	err = read(ctx, m, key, func(l *list) {
		if index < 0 {
			index += l.Len()
		}
		if ok = index >= 0 && index < l.Len(); ok {
			value = l.items()[index]
		}
	})
	return value, ok, err
}

// ListLen implements driver.Store.
func (m Methods) ListLen(ctx context.Context, key string) (n int, err error) {
	err = read(ctx, m, key, func(l *list) { n = l.Len() })
	return n, err
}

// ListPop implements driver.Store.
func (m Methods) ListPop(
	ctx context.Context, key string, end driver.End,
) (value []byte, ok bool, err error) {
	err = shrink(ctx, m, key, func(l *list) { value, ok = l.pop(end), true })
	return value, ok, err
}

// ListRemove implements driver.Store.
func (m Methods) ListRemove(
	ctx context.Context, key string, count int, value []byte,
) (removed int, err error) {
	err = shrink(ctx, m, key, func(l *list) {
		removed = l.remove(count, func(item []byte) bool { return bytes.Equal(item, value) })
	})
	return removed, err
}
