package drivertest

import (
	"bytes"
	"context"
	"slices"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// ListPush implements driver.Store.
func (s *MapStore) ListPush(
	ctx context.Context, key string, end driver.End, values [][]byte, w driver.Write,
) (length int, stored bool, err error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	if err != nil || !w.If.Holds(len(l) > 0) {
		return 0, false, err
	}
	if end == driver.Tail {
		l = append(l, values...)
	} else {
		values = slices.Clone(values)
		slices.Reverse(values)
		l = append(values, l...)
	}
	s.grow(key, l, len(l), w)
	return len(l), true, nil
}

// ListRange implements driver.Store.
func (s *MapStore) ListRange(ctx context.Context, key string, start, stop int) ([][]byte, error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	if start < 0 {
		start = max(start+len(l), 0)
	}
	if stop < 0 {
		stop += len(l)
	}
	if stop = min(stop, len(l)-1); start > stop {
		return nil, err
	}
	return slices.Clone(l[start : stop+1]), err
}

// ListIndex implements driver.Store.
func (s *MapStore) ListIndex(
	ctx context.Context, key string, index int,
) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	if index < 0 {
		index += len(l)
	}
	if index < 0 || index >= len(l) {
		return nil, false, err
	}
	return l[index], true, nil
}

// ListLen implements driver.Store.
func (s *MapStore) ListLen(ctx context.Context, key string) (int, error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	return len(l), err
}

// ListPop implements driver.Store.
func (s *MapStore) ListPop(
	ctx context.Context, key string, end driver.End,
) (value []byte, ok bool, err error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	if len(l) == 0 {
		return nil, false, err
	}
	if end == driver.Head {
		value, l = l[0], l[1:]
	} else {
		value, l = l[len(l)-1], l[:len(l)-1]
	}
	s.shrink(key, l, len(l))
	return value, true, nil
}

// ListRemove implements driver.Store.
func (s *MapStore) ListRemove(
	ctx context.Context, key string, count int, value []byte,
) (removed int, err error) {
	defer s.mu.Unlock()
	l, err := open[list](ctx, s, key)
	if err != nil {
		return 0, err
	}
	if count < 0 { // from the tail
		slices.Reverse(l)
	}
	l = slices.DeleteFunc(l, func(item []byte) bool {
		if (count != 0 && removed == max(count, -count)) || !bytes.Equal(item, value) {
			return false
		}
		removed++
		return true
	})
	if count < 0 {
		slices.Reverse(l)
	}
	s.shrink(key, l, len(l))
	return removed, nil
}
