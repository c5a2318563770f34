// Package collections implements the hashes, sets and lists of a cache store in the process of its
// callers. The store embeds Methods and adds the access to a key.
package collections

import (
	"bytes"
	"container/list"
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Collection is a hash, set or list. It is read under View and changed under Change.
type Collection interface {
	driver.Object
	// Len returns the number of fields, members or elements.
	Len() int
}

// View calls f with what key holds, nil if it holds nothing, while no other goroutine changes it.
type View func(ctx context.Context, key string, f func(held driver.Object) error) error

// Change calls f with what key holds, nil if it holds nothing, while no other goroutine uses it. It writes the
// collection that f returns, which may be the one that key holds, and removes it if it is empty. If f
// returns nil or an error, key stays as it is.
type Change func(ctx context.Context, key string, w driver.Write, f func(held driver.Object) (Collection, error)) error

// Methods are those of driver.Store for hashes, sets and lists.
type Methods struct {
	view   View
	change Change
}

// New returns the methods of a store.
func New(view View, change Change) Methods { return Methods{view, change} }

// none is the encoding of a collection, which is no plain value.
type none struct{}

// Encode implements driver.Object.
func (none) Encode() ([]byte, error) { return nil, driver.ErrWrongType }

type hash struct {
	none
	fields map[string][]byte
}

type set struct {
	none
	members map[string]struct{}
}

// sequence is a list. Its values are byte slices, and its ends are cheap to change.
type sequence struct {
	none
	list.List
}

// Len implements Collection.
func (h *hash) Len() int { return len(h.fields) }

// Len implements Collection.
func (s *set) Len() int { return len(s.members) }

// as returns the collection in held, or ErrWrongType.
func as[C Collection](held driver.Object) (c C, exists bool, err error) {
	if held == nil {
		return c, false, nil
	}
	c, exists = held.(C)
	if !exists {
		return c, false, driver.ErrWrongType
	}
	return c, true, nil
}

// read calls f with what key holds, if anything.
func read[C Collection](ctx context.Context, m Methods, key string, f func(C)) error {
	return m.view(ctx, key, func(held driver.Object) error {
		c, exists, err := as[C](held)
		if exists {
			f(c)
		}
		return err
	})
}

// shrink is read for an f that removes something.
func shrink[C Collection](ctx context.Context, m Methods, key string, f func(C)) error {
	return m.change(ctx, key, driver.Write{Keep: true}, func(held driver.Object) (Collection, error) {
		c, exists, err := as[C](held)
		if !exists {
			return nil, err
		}
		f(c)
		return c, nil
	})
}

// grow calls f, which may refuse, with what key holds or with an empty collection, and writes it.
func grow[C Collection](
	ctx context.Context, m Methods, key string, w driver.Write, empty func() C, f func(c C, exists bool) bool,
) (stored bool, err error) {
	err = m.change(ctx, key, w, func(held driver.Object) (Collection, error) {
		c, exists, err := as[C](held)
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
func (m Methods) HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error) {
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
func (m Methods) HashRemove(ctx context.Context, key string, fields ...string) (removed int, err error) {
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
func (m Methods) SetAdd(ctx context.Context, key string, members [][]byte, w driver.Write) (added int, stored bool, err error) {
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
func (m Methods) SetRemove(ctx context.Context, key string, members ...[]byte) (removed int, err error) {
	err = shrink(ctx, m, key, func(s *set) {
		before := len(s.members)
		for _, member := range members {
			delete(s.members, string(member))
		}
		removed = before - len(s.members)
	})
	return removed, err
}

// at returns the element with an index that exists, from the nearer end.
func (l *sequence) at(index int) *list.Element {
	if index < l.Len()/2 {
		e := l.Front()
		for range index {
			e = e.Next()
		}
		return e
	}
	e := l.Back()
	for range l.Len() - 1 - index {
		e = e.Prev()
	}
	return e
}

// valueOf returns the value of an element of a sequence.
func valueOf(e *list.Element) []byte {
	value, _ := e.Value.([]byte)
	return value
}

// ListPush implements driver.Store.
func (m Methods) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	empty := func() *sequence { return &sequence{} }
	stored, err = grow(ctx, m, key, w, empty, func(l *sequence, exists bool) bool {
		if !w.If.Holds(exists) {
			return false
		}
		for _, value := range values {
			if end == driver.Head {
				l.PushFront(value)
			} else {
				l.PushBack(value)
			}
		}
		length = l.Len()
		return true
	})
	return length, stored, err
}

// ListRange implements driver.Store.
func (m Methods) ListRange(ctx context.Context, key string, start, stop int) (out [][]byte, err error) {
	err = read(ctx, m, key, func(l *sequence) {
		n := l.Len()
		if start < 0 {
			start = max(start+n, 0)
		}
		if stop < 0 {
			stop += n
		}
		if stop = min(stop, n-1); start > stop {
			return
		}
		e := l.at(start)
		for range stop - start + 1 {
			out = append(out, valueOf(e))
			e = e.Next()
		}
	})
	return out, err
}

// ListIndex implements driver.Store.
func (m Methods) ListIndex(ctx context.Context, key string, index int) (value []byte, ok bool, err error) {
	err = read(ctx, m, key, func(l *sequence) {
		if index < 0 {
			index += l.Len()
		}
		if ok = index >= 0 && index < l.Len(); ok {
			value = valueOf(l.at(index))
		}
	})
	return value, ok, err
}

// ListLen implements driver.Store.
func (m Methods) ListLen(ctx context.Context, key string) (n int, err error) {
	err = read(ctx, m, key, func(l *sequence) { n = l.Len() })
	return n, err
}

// ListPop implements driver.Store.
func (m Methods) ListPop(ctx context.Context, key string, end driver.End) (value []byte, ok bool, err error) {
	err = shrink(ctx, m, key, func(l *sequence) {
		e := l.Front()
		if end == driver.Tail {
			e = l.Back()
		}
		value, ok = valueOf(e), true
		l.Remove(e)
	})
	return value, ok, err
}

// ListRemove implements driver.Store.
func (m Methods) ListRemove(ctx context.Context, key string, count int, value []byte) (removed int, err error) {
	err = shrink(ctx, m, key, func(l *sequence) {
		e, next := l.Front(), (*list.Element).Next
		if count < 0 {
			e, next = l.Back(), (*list.Element).Prev
		}
		most := max(count, -count)
		for e != nil && (count == 0 || removed != most) {
			following := next(e)
			if bytes.Equal(valueOf(e), value) {
				l.Remove(e)
				removed++
			}
			e = following
		}
	})
	return removed, err
}
