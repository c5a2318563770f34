package xcache

import (
	"encoding/json"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/internal/jsonplan"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// object is a value that a store in the process keeps as it is.
type object[V any] struct {
	driver.Entry

	value V
	codec *values[V]
}

// Encode implements driver.Object.
func (o *object[V]) Encode() ([]byte, error) { return o.codec.encode(&o.value) }

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
		fields := jsonplan.Fields(t) // without those that are hidden, left out or named twice
		return len(fields) == t.NumField() &&
			!slices.ContainsFunc(fields, func(f jsonplan.Field) bool {
				return len(f.Index) > 1 || !isPlain(f.Type)
			})
	default:
		return isStringOrInteger(k) || k == reflect.Bool || k == reflect.Float32 ||
			k == reflect.Float64
	}
}

// faithful reports whether JSON gives back the plain value v: no NaN, no infinity, no
// broken UTF-8, no negative id.
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
