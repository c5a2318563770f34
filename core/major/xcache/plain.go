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

// object is a value that an in-process store stores without encoding it.
type object[V any] struct {
	driver.Entry

	value V
	codec *values[V]
}

// Encode implements driver.Object.
func (o *object[V]) Encode() ([]byte, error) { return o.codec.encode(&o.value) }

var snowflakeID = reflect.TypeFor[xsnowflake.SnowflakeID]()

// isPlain reports whether t contains no references and JSON encodes it completely.
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
		fields := jsonplan.Fields(t) // without hidden, omitted and duplicate fields
		return len(fields) == t.NumField() &&
			!slices.ContainsFunc(fields, func(f jsonplan.Field) bool {
				return len(f.Index) > 1 || !isPlain(f.Type)
			})
	default:
		return isStringOrInteger(k) || k == reflect.Bool || k == reflect.Float32 ||
			k == reflect.Float64
	}
}

// roundTrips reports whether JSON restores the plain value v exactly. It does not restore
// NaN, infinity, invalid UTF-8 or a negative ID.
func roundTrips(v reflect.Value) bool {
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
			if !roundTrips(v.Index(i)) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !roundTrips(v.Field(i)) {
				return false
			}
		}
	default:
		// other numbers and booleans
	}
	return true
}
