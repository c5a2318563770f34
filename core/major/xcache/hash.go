package xcache

import (
	"context"
	"fmt"
	"reflect"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// HashCache stores a hash under each key: fields of type F with values of type V, or the
// fields of the struct S. It is safe for concurrent use. Writes reset the TTL of the
// whole hash; Remove keeps it.
type HashCache[K comparable, F comparable, V, S any] struct {
	collection[K, V]
	field  text[F]
	fields *fields
}

// HashCacheOf returns a view on m for hashes with fields F and values V, or with the
// fields of the struct S, named by their cache or json tags. Use struct{} if S is not
// needed. It panics if K or F has no string form, if F cannot be parsed, or if S is not a
// struct.
func HashCacheOf[K, F comparable, V, S any](m *Manager, opts ...ViewOption) *HashCache[K, F, V, S] {
	return &HashCache[K, F, V, S]{
		newCollection[K, V](m, opts), newText[F]("field", true),
		fieldsOf(reflect.TypeFor[S]()),
	}
}

// Get returns the value of a field, and whether it exists.
func (c *HashCache[K, F, V, S]) Get(
	ctx context.Context, key K, field F,
) (v *V, ok bool, err error) {
	return c.value(ctx, opGet, key, func(name string) ([]byte, bool, error) {
		f, err := c.field.of("", field)
		if err != nil {
			return nil, false, err
		}
		return c.m.store.HashGet(ctx, name, f)
	})
}

// Set writes one field. WithNX and WithXX apply to the field.
func (c *HashCache[K, F, V, S]) Set(
	ctx context.Context, key K, field F, value *V, opts ...Option,
) error {
	return c.update(ctx, key, opts, func(name string, w driver.Write) (bool, error) {
		item, err := c.item(field, value)
		if err != nil {
			return false, err
		}
		return c.m.store.HashSet(ctx, name, []driver.Field{item}, nil, w)
	})
}

// item returns a field with its encoded value.
func (c *HashCache[K, F, V, S]) item(field F, value *V) (item driver.Field, err error) {
	if item.Name, err = c.field.of("", field); err == nil {
		item.Value, err = c.val.encode(value)
	}
	return item, err
}

// GetAll returns all fields. It returns an empty map if the key does not exist.
func (c *HashCache[K, F, V, S]) GetAll(ctx context.Context, key K) (all map[F]V, err error) {
	_, err = c.call(ctx, opRead, key, func(name string) (bool, error) {
		list, err := c.m.store.HashGetAll(ctx, name)
		if err == nil {
			all, err = c.decode(list)
		}
		return len(all) > 0, err
	})
	return all, err
}

func (c *HashCache[K, F, V, S]) decode(list []driver.Field) (map[F]V, error) {
	all := make(map[F]V, len(list))
	for _, item := range list {
		f, err := c.field.parse(item.Name)
		if err != nil {
			return nil, fmt.Errorf("%w: field name: %w", ErrDecode, err)
		}
		v, err := c.val.decode(item.Value)
		if err != nil {
			return nil, err
		}
		all[f] = *v
	}
	return all, nil
}

// SetAll writes several fields at once and keeps the others. WithNX writes only if no
// field of values exists, WithXX only if all exist. An empty map changes nothing.
func (c *HashCache[K, F, V, S]) SetAll(
	ctx context.Context, key K, values map[F]V, opts ...Option,
) error {
	return c.update(ctx, key, opts, func(name string, w driver.Write) (bool, error) {
		set := make([]driver.Field, 0, len(values))
		for field, value := range values {
			item, err := c.item(field, &value)
			if err != nil {
				return false, err
			}
			set = append(set, item)
		}
		if len(set) == 0 {
			return false, nil
		}
		return c.m.store.HashSet(ctx, name, set, nil, w)
	})
}

// GetAllStruct returns the hash as an S, and whether it exists. Missing fields are zero.
func (c *HashCache[K, F, V, S]) GetAllStruct(
	ctx context.Context, key K,
) (s *S, ok bool, err error) {
	ok, err = c.call(ctx, opRead, key, func(name string) (bool, error) {
		list, err := c.m.store.HashGetAll(ctx, name)
		if err != nil || len(list) == 0 {
			return false, err
		}
		s = new(S)
		return true, c.fields.decode(c.m.options.Codec, list, reflect.ValueOf(s).Elem())
	})
	if !ok {
		return nil, false, err
	}
	return s, true, nil
}

// SetAllStruct writes all fields of s at once. It removes fields that are nil pointers,
// or zero and tagged omitempty, and keeps fields that S does not have. WithNX and WithXX
// work as in SetAll.
func (c *HashCache[K, F, V, S]) SetAllStruct(
	ctx context.Context, key K, s *S, opts ...Option,
) error {
	return c.update(ctx, key, opts, func(name string, w driver.Write) (bool, error) {
		if s == nil {
			return false, ErrNil
		}
		set, remove, err := c.fields.encode(c.m.options.Codec, reflect.ValueOf(s).Elem())
		if err != nil || len(set)+len(remove) == 0 {
			return false, err
		}
		return c.m.store.HashSet(ctx, name, set, remove, w)
	})
}

// Exists reports whether the field exists.
func (c *HashCache[K, F, V, S]) Exists(ctx context.Context, key K, field F) (ok bool, err error) {
	return c.call(ctx, opExists, key, func(name string) (bool, error) {
		f, err := c.field.of("", field)
		if err != nil {
			return false, err
		}
		return c.m.store.HashExists(ctx, name, f)
	})
}

// Remove removes fields and returns how many existed. It keeps the TTL of the hash. An
// empty hash does not exist.
func (c *HashCache[K, F, V, S]) Remove(
	ctx context.Context, key K, fields ...F,
) (removed int, err error) {
	return c.count(ctx, opRemove, key, func(name string) (int, error) {
		names, err := c.field.all(ctx, "", fields)
		if err != nil || len(names) == 0 {
			return 0, err
		}
		return c.m.store.HashRemove(ctx, name, names...)
	})
}
