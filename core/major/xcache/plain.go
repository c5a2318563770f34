package xcache

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// object is a value that a store in the process keeps as it is.
type object[V any] struct {
	driver.Entry

	value V
	codec *values[V]
}

// newObject returns an object with a copy of value.
func newObject[V any](value V, codec *values[V]) *object[V] {
	o := &object[V]{value: value, codec: codec}
	o.Object = o
	return o
}

// Encode implements driver.Object.
func (o *object[V]) Encode() ([]byte, error) { return o.codec.encode(&o.value) }

var _ driver.Object = (*object[int])(nil)

// plainness reports whether values of t may be kept undecoded: a shallow copy is a full copy, and
// decoding gives back just what was encoded, so that a store of bytes would behave the same. With
// check that holds only for values that are faithful.
func plainness(t reflect.Type, f form, codecIsJSON bool) (plain, check bool) {
	switch f {
	case formString, formInt, formUint:
		return true, false
	case formBytes:
		return false, false
	default:
		return codecIsJSON && isPlain(t), needsCheck(t)
	}
}

var snowflakeID = reflect.TypeFor[xsnowflake.SnowflakeID]()

// isPlain reports whether t holds no reference and passes through JSON whole.
func isPlain(t reflect.Type) bool {
	if t == snowflakeID {
		return true // its JSON form is exact
	}
	if encodesItself(t) || t == reflect.TypeFor[json.Number]() {
		return false
	}
	switch k := t.Kind(); k {
	case reflect.Array:
		return isPlain(t.Elem())
	case reflect.Struct:
		return isPlainStruct(t)
	default:
		return k == reflect.Bool || k == reflect.String || isInt(k) || isUint(k) || k == reflect.Float32 || k == reflect.Float64
	}
}

// isPlainStruct refuses what JSON would lose: fields that are hidden, left out, embedded or named twice.
func isPlainStruct(t reflect.Type) bool {
	seen := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := strings.ToLower(f.Name)
		if tag != "" {
			name = strings.ToLower(tag)
		}
		if !f.IsExported() || f.Anonymous || f.Tag.Get("json") == "-" || seen[name] || !isPlain(f.Type) {
			return false
		}
		seen[name] = true
	}
	return true
}

// needsCheck reports whether t holds floats, strings or ids, some of which JSON refuses or mends.
func needsCheck(t reflect.Type) bool {
	if t == snowflakeID {
		return true
	}
	switch t.Kind() {
	case reflect.String, reflect.Float32, reflect.Float64:
		return true
	case reflect.Array:
		return needsCheck(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if needsCheck(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return false
	}
}

// faithful reports whether JSON gives back the plain value v: no NaN, no infinity, no broken UTF-8, no
// negative id.
func faithful(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Int64:
		return v.Type() != snowflakeID || v.Int() >= 0
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		return f-f == 0
	case reflect.Array:
		for i := range v.Len() {
			if !faithful(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !faithful(v.Field(i)) {
				return false
			}
		}
	default:
		// a number or a truth is what it is
	}
	return true
}
