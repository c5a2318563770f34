package mapstore

import (
	"context"
	"slices"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// HashGet implements driver.Hashes.
func (s *Store) HashGet(ctx context.Context, key, field string) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e != nil {
		value, ok = e.hash[field]
	}
	return value, ok, err
}

// HashGetAll implements driver.Hashes.
func (s *Store) HashGetAll(ctx context.Context, key string) (out []driver.Field, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e != nil {
		for name, value := range e.hash {
			out = append(out, driver.Field{Name: name, Value: value})
		}
	}
	return out, err
}

// HashSet implements driver.Hashes.
func (s *Store) HashSet(
	ctx context.Context, key string, fields []driver.Field, remove []string, w driver.Write,
) (bool, error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, hash)
	if err != nil {
		return false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: hash, hash: map[string][]byte{}}
	}
	for _, f := range fields {
		if _, exists := e.hash[f.Name]; !w.If.Holds(exists) {
			return false, nil
		}
	}
	for _, f := range fields {
		e.hash[f.Name] = f.Value
	}
	for _, name := range remove {
		delete(e.hash, name)
	}
	s.write(key, old, e, w)
	return true, nil
}

// HashExists implements driver.Hashes.
func (s *Store) HashExists(ctx context.Context, key, field string) (bool, error) {
	_, ok, err := s.HashGet(ctx, key, field)
	return ok, err
}

// HashRemove implements driver.Hashes.
func (s *Store) HashRemove(ctx context.Context, key string, names ...string) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, hash)
	if e == nil {
		return 0, err
	}
	for _, name := range names {
		if _, ok := e.hash[name]; ok {
			delete(e.hash, name)
			removed++
		}
	}
	s.tidy(key, e)
	return removed, nil
}

// SetAdd implements driver.Sets.
func (s *Store) SetAdd(
	ctx context.Context, key string, members [][]byte, w driver.Write,
) (added int, stored bool, err error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, set)
	if err != nil || !w.If.Holds(old != nil) {
		return 0, false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: set, set: map[string]bool{}}
	}
	for _, m := range members {
		if !e.set[string(m)] {
			e.set[string(m)] = true
			added++
		}
	}
	s.write(key, old, e, w)
	return added, true, nil
}

// SetMembers implements driver.Sets.
func (s *Store) SetMembers(ctx context.Context, key string) (out [][]byte, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e != nil {
		for m := range e.set {
			out = append(out, []byte(m))
		}
	}
	return out, err
}

// SetContains implements driver.Sets.
func (s *Store) SetContains(ctx context.Context, key string, member []byte) (bool, error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	return e != nil && e.set[string(member)], err
}

// SetCount implements driver.Sets.
func (s *Store) SetCount(ctx context.Context, key string) (n int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e != nil {
		n = len(e.set)
	}
	return n, err
}

// SetRemove implements driver.Sets.
func (s *Store) SetRemove(ctx context.Context, key string, members ...[]byte) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, set)
	if e == nil {
		return 0, err
	}
	for _, m := range members {
		if e.set[string(m)] {
			delete(e.set, string(m))
			removed++
		}
	}
	s.tidy(key, e)
	return removed, nil
}

// ListPush implements driver.Lists.
func (s *Store) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	defer s.mu.Unlock()
	old, err := s.begin(ctx, key, list)
	if err != nil || !w.If.Holds(old != nil) {
		return 0, false, err
	}
	e := old
	if e == nil {
		e = &entry{kind: list}
	}
	for _, v := range values {
		if end == driver.Head {
			e.list = slices.Insert(e.list, 0, v)
		} else {
			e.list = append(e.list, v)
		}
	}
	s.write(key, old, e, w)
	return len(e.list), true, nil
}

// ListRange implements driver.Lists.
func (s *Store) ListRange(ctx context.Context, key string, start, stop int) (out [][]byte, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, err
	}
	n := len(e.list)
	for i, v := range e.list {
		afterStart := i >= start && (start >= 0 || i-n >= start)
		beforeStop := (stop >= 0 && i <= stop) || (stop < 0 && i-n <= stop)
		if afterStart && beforeStop {
			out = append(out, v)
		}
	}
	return out, nil
}

// ListIndex implements driver.Lists.
func (s *Store) ListIndex(ctx context.Context, key string, index int) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, false, err
	}
	if index < 0 {
		index += len(e.list)
	}
	if index < 0 || index >= len(e.list) {
		return nil, false, nil
	}
	return e.list[index], true, nil
}

// ListLen implements driver.Lists.
func (s *Store) ListLen(ctx context.Context, key string) (n int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e != nil {
		n = len(e.list)
	}
	return n, err
}

// ListPop implements driver.Lists.
func (s *Store) ListPop(ctx context.Context, key string, end driver.End) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return nil, false, err
	}
	at := 0
	if end == driver.Tail {
		at = len(e.list) - 1
	}
	value = e.list[at]
	e.list = slices.Delete(e.list, at, at+1)
	s.tidy(key, e)
	return value, true, nil
}

// ListRemove implements driver.Lists.
func (s *Store) ListRemove(ctx context.Context, key string, count int, value []byte) (removed int, err error) {
	defer s.mu.Unlock()
	e, err := s.begin(ctx, key, list)
	if e == nil {
		return 0, err
	}
	var at []int
	for i, v := range e.list {
		if string(v) == string(value) {
			at = append(at, i)
		}
	}
	switch {
	case count > 0 && count < len(at):
		at = at[:count]
	case count < 0 && -count < len(at):
		at = at[len(at)+count:]
	}
	for _, i := range slices.Backward(at) {
		e.list = slices.Delete(e.list, i, i+1)
	}
	s.tidy(key, e)
	return len(at), nil
}
