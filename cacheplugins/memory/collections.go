package memory

import (
	"bytes"
	"context"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// collection is what a key holds beside plain values. It is read and changed under the key's shard.
type collection struct{}

// Encode implements driver.Object: a collection is no plain value.
func (collection) Encode() ([]byte, error) { return nil, driver.ErrWrongType }

type hash struct {
	collection
	fields map[string][]byte
}

type set struct {
	collection
	members map[string]struct{}
}

// list is a list.
type list struct {
	collection
	deque
}

func (h *hash) size() int { return len(h.fields) }
func (m *set) size() int  { return len(m.members) }

// sized is a collection of one kind.
type sized interface {
	driver.Object
	comparable
	size() int
}

// as returns the collection in e, the zero C for nothing, or ErrWrongType.
func as[C sized](e entry) (c C, err error) {
	if e == nil {
		return c, nil
	}
	c, ok := e.Object.(C)
	if !ok {
		return c, driver.ErrWrongType
	}
	return c, nil
}

// read calls f with what the key holds, if anything, while nobody changes it.
func read[C sized](s *store, key string, f func(C)) error {
	sh := s.shard(key)
	sh.RLock()
	defer sh.RUnlock()
	var none C
	c, err := as[C](s.lookup(key))
	if err != nil {
		return err
	}
	if c == none {
		return s.err()
	}
	f(c)
	return nil
}

// shrink is read for an f that takes something out. The expiry stays; what is empty goes.
func shrink[C sized](s *store, key string, f func(C)) error {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	var none C
	c, err := as[C](s.lookup(key))
	if err != nil {
		return err
	}
	if c == none {
		return s.err()
	}
	if f(c); c.size() == 0 {
		s.engine.Invalidate(key)
	}
	return nil
}

// grow calls f, which may refuse, with what the key holds or with what make makes, and writes it.
func grow[C sized](s *store, key string, w driver.Write, empty func() C, f func(c C, exists bool) bool) (bool, error) {
	sh := s.shard(key)
	sh.Lock()
	defer sh.Unlock()
	var none C
	c, err := as[C](s.lookup(key))
	if err == nil {
		err = s.err()
	}
	if err != nil {
		return false, err
	}
	exists := c != none
	if !exists {
		c = empty()
	}
	if !f(c, exists) {
		return false, nil
	}
	switch {
	case c.size() == 0:
		s.engine.Invalidate(key)
	case !exists || !w.Keep: // else the entry, which stays in its place, has changed already
		s.put(key, &driver.Entry{Object: c, Deadline: s.deadline(w.TTL)})
	}
	return true, nil
}

// HashGet implements driver.Hashes.
func (s *store) HashGet(_ context.Context, key, field string) (value []byte, ok bool, err error) {
	err = read(s, key, func(h *hash) { value, ok = h.fields[field] })
	return value, ok, err
}

// HashGetAll implements driver.Hashes.
func (s *store) HashGetAll(_ context.Context, key string) (out []driver.Field, err error) {
	err = read(s, key, func(h *hash) {
		out = make([]driver.Field, 0, len(h.fields))
		for name, value := range h.fields {
			out = append(out, driver.Field{Name: name, Value: value})
		}
	})
	return out, err
}

// HashSet implements driver.Hashes.
func (s *store) HashSet(
	_ context.Context, key string, fields []driver.Field, remove []string, w driver.Write,
) (bool, error) {
	empty := func() *hash { return &hash{fields: make(map[string][]byte, len(fields))} }
	return grow(s, key, w, empty, func(h *hash, _ bool) bool {
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

// HashExists implements driver.Hashes.
func (s *store) HashExists(_ context.Context, key, field string) (ok bool, err error) {
	err = read(s, key, func(h *hash) { _, ok = h.fields[field] })
	return ok, err
}

// HashRemove implements driver.Hashes.
func (s *store) HashRemove(_ context.Context, key string, fields ...string) (removed int, err error) {
	err = shrink(s, key, func(h *hash) {
		before := len(h.fields)
		for _, name := range fields {
			delete(h.fields, name)
		}
		removed = before - len(h.fields)
	})
	return removed, err
}

// SetAdd implements driver.Sets.
func (s *store) SetAdd(_ context.Context, key string, members [][]byte, w driver.Write) (added int, stored bool, err error) {
	empty := func() *set { return &set{members: make(map[string]struct{}, len(members))} }
	stored, err = grow(s, key, w, empty, func(m *set, exists bool) bool {
		if !w.If.Holds(exists) {
			return false
		}
		before := len(m.members)
		for _, member := range members {
			m.members[string(member)] = struct{}{}
		}
		added = len(m.members) - before
		return true
	})
	return added, stored, err
}

// SetMembers implements driver.Sets.
func (s *store) SetMembers(_ context.Context, key string) (out [][]byte, err error) {
	err = read(s, key, func(m *set) {
		out = make([][]byte, 0, len(m.members))
		for member := range m.members {
			out = append(out, []byte(member))
		}
	})
	return out, err
}

// SetContains implements driver.Sets.
func (s *store) SetContains(_ context.Context, key string, member []byte) (ok bool, err error) {
	err = read(s, key, func(m *set) { _, ok = m.members[string(member)] })
	return ok, err
}

// SetCount implements driver.Sets.
func (s *store) SetCount(_ context.Context, key string) (n int, err error) {
	err = read(s, key, func(m *set) { n = len(m.members) })
	return n, err
}

// SetRemove implements driver.Sets.
func (s *store) SetRemove(_ context.Context, key string, members ...[]byte) (removed int, err error) {
	err = shrink(s, key, func(m *set) {
		before := len(m.members)
		for _, member := range members {
			delete(m.members, string(member))
		}
		removed = before - len(m.members)
	})
	return removed, err
}

// ListPush implements driver.Lists.
func (s *store) ListPush(
	_ context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	stored, err = grow(s, key, w, func() *list { return &list{} }, func(l *list, exists bool) bool {
		if !w.If.Holds(exists) {
			return false
		}
		l.push(end, values)
		length = l.size()
		return true
	})
	return length, stored, err
}

// ListRange implements driver.Lists.
func (s *store) ListRange(_ context.Context, key string, start, stop int) (out [][]byte, err error) {
	err = read(s, key, func(l *list) {
		n := l.size()
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

// ListIndex implements driver.Lists.
func (s *store) ListIndex(_ context.Context, key string, index int) (value []byte, ok bool, err error) {
	err = read(s, key, func(l *list) {
		if index < 0 {
			index += l.size()
		}
		if ok = index >= 0 && index < l.size(); ok {
			value = l.items()[index]
		}
	})
	return value, ok, err
}

// ListLen implements driver.Lists.
func (s *store) ListLen(_ context.Context, key string) (n int, err error) {
	err = read(s, key, func(l *list) { n = l.size() })
	return n, err
}

// ListPop implements driver.Lists.
func (s *store) ListPop(_ context.Context, key string, end driver.End) (value []byte, ok bool, err error) {
	err = shrink(s, key, func(l *list) { value, ok = l.pop(end), true })
	return value, ok, err
}

// ListRemove implements driver.Lists.
func (s *store) ListRemove(_ context.Context, key string, count int, value []byte) (removed int, err error) {
	err = shrink(s, key, func(l *list) {
		removed = l.remove(count, func(item []byte) bool { return bytes.Equal(item, value) })
	})
	return removed, err
}
