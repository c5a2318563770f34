package xcache

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// HashCache holds a hash under each key: fields of type F with values of type V, or the fields of the
// struct S. It is safe for concurrent use. Writes slide the life of the whole hash, removals do not.
type HashCache[K comparable, F comparable, V, S any] struct {
	view
	key    text[K]
	field  text[F]
	parse  func(string) (F, error)
	val    values[V]
	fields *fields
}

// HashCacheOf returns the view on m whose hashes have fields F and values V, or those of the struct S,
// named by their cache or json tags. A view that needs no S says struct{}. It panics where K or F has no
// text, where F cannot be read back, or where S is no struct.
func HashCacheOf[K, F comparable, V, S any](m *Manager, opts ...ViewOption) *HashCache[K, F, V, S] {
	field, parse := newField[F]("field")
	return &HashCache[K, F, V, S]{
		view: newView(m, opts), key: newText[K]("key"), field: field, parse: parse,
		val: newValues[V](m), fields: fieldsOf(reflect.TypeFor[S]()),
	}
}

// Get returns the value of a field, and whether it exists.
func (c *HashCache[K, F, V, S]) Get(ctx context.Context, key K, field F) (v *V, ok bool, err error) {
	op := c.begin(opGet)
	k, f, err := c.names(ctx, key, field)
	if err == nil {
		var data []byte
		if data, ok, err = c.m.store.HashGet(ctx, k, f); ok && err == nil {
			v, err = c.val.decode(data)
		}
	}
	return v, ok && err == nil, op.end(ctx, found(ok), err)
}

// Set writes one field. WithNX and WithXX are about the field.
func (c *HashCache[K, F, V, S]) Set(ctx context.Context, key K, field F, value *V, opts ...Option) error {
	op := c.begin(opSet)
	w, err := c.resolveUpdate(opts)
	stored := false
	if err == nil {
		var f string
		var data []byte
		if f, err = c.field.begin(ctx, "", field); err == nil {
			if data, err = c.val.encode(value); err == nil {
				stored, err = c.write(ctx, key, []driver.Field{{Name: f, Value: data}}, nil, w)
			}
		}
	}
	return op.end(ctx, wrote(stored), err)
}

// GetAll returns all fields; none for a key that does not exist.
func (c *HashCache[K, F, V, S]) GetAll(ctx context.Context, key K) (map[F]V, error) {
	op := c.begin(opRead)
	out, err := c.getAll(ctx, key)
	return out, op.end(ctx, found(len(out) > 0), err)
}

func (c *HashCache[K, F, V, S]) getAll(ctx context.Context, key K) (map[F]V, error) {
	k, err := c.key.begin(ctx, c.prefix, key)
	if err != nil {
		return nil, err
	}
	list, err := c.m.store.HashGetAll(ctx, k)
	if err != nil {
		return nil, err
	}
	out := make(map[F]V, len(list))
	for _, item := range list {
		f, err := c.parse(item.Name)
		if err != nil {
			return nil, fmt.Errorf("%w: name of a field: %w", ErrDecode, err)
		}
		v, err := c.val.decode(item.Value)
		if err != nil {
			return nil, err
		}
		out[f] = *v
	}
	return out, nil
}

// SetAll writes several fields at once and leaves the others. WithNX writes where none of them exists,
// WithXX where all do. An empty map changes nothing.
func (c *HashCache[K, F, V, S]) SetAll(ctx context.Context, key K, values map[F]V, opts ...Option) error {
	op := c.begin(opSet)
	w, err := c.resolveUpdate(opts)
	stored := false
	if err == nil {
		set := make([]driver.Field, 0, len(values))
		for field, value := range values {
			var item driver.Field
			if item.Name, err = c.field.of("", field); err != nil {
				break
			}
			if item.Value, err = c.val.encode(&value); err != nil {
				break
			}
			set = append(set, item)
		}
		if err == nil {
			stored, err = c.write(ctx, key, set, nil, w)
		}
	}
	return op.end(ctx, wrote(stored), err)
}

// GetAllStruct returns the hash as an S, and whether it exists. A field that is missing stays zero.
func (c *HashCache[K, F, V, S]) GetAllStruct(ctx context.Context, key K) (s *S, ok bool, err error) {
	op := c.begin(opRead)
	k, err := c.key.begin(ctx, c.prefix, key)
	if err == nil {
		var list []driver.Field
		if list, err = c.m.store.HashGetAll(ctx, k); err == nil && len(list) > 0 {
			s, ok = new(S), true
			err = c.fields.decode(c.m.codec, list, reflect.ValueOf(s).Elem())
		}
	}
	if err != nil {
		s, ok = nil, false
	}
	return s, ok, op.end(ctx, found(ok), err)
}

// SetAllStruct writes all fields of s at once. It removes those that are nil pointers, or zero and tagged
// omitempty, and leaves fields that S does not have. WithNX and WithXX are as in SetAll.
func (c *HashCache[K, F, V, S]) SetAllStruct(ctx context.Context, key K, s *S, opts ...Option) error {
	op := c.begin(opSet)
	w, err := c.resolveUpdate(opts)
	stored := false
	switch {
	case err != nil:
	case s == nil:
		err = ErrNil
	default:
		var set []driver.Field
		var remove []string
		if set, remove, err = c.fields.encode(c.m.codec, reflect.ValueOf(s).Elem()); err == nil {
			stored, err = c.write(ctx, key, set, remove, w)
		}
	}
	return op.end(ctx, wrote(stored), err)
}

// write changes fields of one hash.
func (c *HashCache[K, F, V, S]) write(
	ctx context.Context, key K, set []driver.Field, remove []string, w write,
) (bool, error) {
	k, err := c.key.begin(ctx, c.prefix, key)
	if err != nil || len(set)+len(remove) == 0 {
		return false, err
	}
	stored, err := c.m.store.HashSet(ctx, k, set, remove, w.Write)
	w.done(stored)
	return stored, err
}

// Exists reports whether the field exists.
func (c *HashCache[K, F, V, S]) Exists(ctx context.Context, key K, field F) (ok bool, err error) {
	op := c.begin(opExists)
	k, f, err := c.names(ctx, key, field)
	if err == nil {
		ok, err = c.m.store.HashExists(ctx, k, f)
	}
	return ok, op.end(ctx, found(ok), err)
}

// Remove removes fields and counts those that existed. The hash lives on as long as it would have; without
// fields it does not exist.
func (c *HashCache[K, F, V, S]) Remove(ctx context.Context, key K, fields ...F) (removed int, err error) {
	op := c.begin(opRemove)
	names, err := c.field.all(ctx, "", fields)
	if err == nil && len(names) > 0 {
		var k string
		if k, err = c.key.of(c.prefix, key); err == nil {
			removed, err = c.m.store.HashRemove(ctx, k, names...)
		}
	}
	return removed, op.end(ctx, wrote(removed > 0), err)
}

// Delete removes the key, whatever it holds. A key that does not exist is no error.
func (c *HashCache[K, F, V, S]) Delete(ctx context.Context, key K) error {
	_, err := deleteKeys(ctx, &c.view, &c.key, []K{key}, false)
	return err
}

// TTL returns how long the key will live, 0 for ever, and whether it exists.
func (c *HashCache[K, F, V, S]) TTL(ctx context.Context, key K) (time.Duration, bool, error) {
	return keyTTL(ctx, &c.view, &c.key, key)
}

// names returns the text of a key and of a field for a call that may begin.
func (c *HashCache[K, F, V, S]) names(ctx context.Context, key K, field F) (k, f string, err error) {
	if k, err = c.key.begin(ctx, c.prefix, key); err == nil {
		f, err = c.field.of("", field)
	}
	return k, f, err
}
