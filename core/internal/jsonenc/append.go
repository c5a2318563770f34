package jsonenc

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"
)

// maxDepth is the maximum nesting depth that an Encoder handles itself. It leaves deeper
// values to encoding/json, which checks for cycles from this depth on.
const maxDepth = 1000

// nilable returns an appender for a kind that can be nil. It also increments the depth,
// because each cycle of values contains such a kind.
func nilable(a appender) appender {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		switch {
		case v.IsNil():
			return append(dst, null...), true
		case depth == maxDepth:
			return dst, false
		}
		return a(dst, v, depth+1)
	}
}

func pointerTo(element appender) appender {
	return nilable(func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		return element(dst, v.Elem(), depth)
	})
}

func (e *Encoder) appendDynamic(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
	v = v.Elem()
	return e.planOf(v.Type()).append(dst, v, depth)
}

func listOf(element appender) appender {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			if dst, ok = element(dst, v.Index(i), depth); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	}
}

// mapOf encodes the values. encoding/json encodes and sorts the keys.
func (e *Encoder) mapOf(t reflect.Type, element appender) appender {
	encoded := reflect.MapOf(t.Key(), reflect.TypeFor[json.RawMessage]())
	return nilable(func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		out := reflect.MakeMapWithSize(encoded, v.Len())
		for entries := v.MapRange(); entries.Next(); {
			text, ok := element(nil, entries.Value(), depth)
			if !ok {
				return dst, false
			}
			out.SetMapIndex(entries.Key(), reflect.ValueOf(json.RawMessage(text)))
		}
		return e.appendStandard(dst, out, depth)
	})
}

func (o object) append(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
	dst = append(dst, '{')
	skip := len(",") // the first member has no leading comma
	for i := range o {
		m := &o[i]
		value := v.Field(m.index)
		if m.embedded != nil {
			var err error
			if value, err = v.FieldByIndexErr(m.embedded); err != nil {
				continue // an embedded nil pointer has no fields
			}
		}
		if m.omitEmpty && isEmpty(value) || m.omitZero && isZero(value) {
			continue
		}
		dst = append(dst, m.key[skip:]...)
		skip = 0
		var ok bool
		if dst, ok = m.append(dst, value, depth); !ok {
			return dst, false
		}
	}
	return append(dst, '}'), true
}

func appendBool(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	return strconv.AppendBool(dst, v.Bool()), true
}

func appendInt(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	return strconv.AppendInt(dst, v.Int(), 10), true
}

func appendUint(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	return strconv.AppendUint(dst, v.Uint(), 10), true
}

func (e *Encoder) appendText(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
	if s := v.String(); isPlain(s) {
		return appendPlain(dst, s), true
	}
	// v can be converted to an interface without a copy, but its text cannot
	return e.appendStandard(dst, v, depth)
}

// appendQuotedText appends a string that contains the JSON encoding of a string.
func (e *Encoder) appendQuotedText(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	return e.AppendString(dst, string(e.AppendString(nil, v.String()))), true
}

// encoding/json uses an exponent below 1e-6 and from 1e21 on. Between minPlain and
// maxPlain it never does, for any precision.
const (
	minPlain = 2e-6
	maxPlain = 5e20
)

func (e *Encoder) appendFloat(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
	n := v.Float()
	// !(size < maxPlain) is also true for NaN
	if size := math.Abs(n); size < minPlain && size != 0 || !(size < maxPlain) {
		return e.appendStandard(dst, v, depth)
	}
	return strconv.AppendFloat(dst, n, 'f', -1, v.Type().Bits()), true
}

func appendTime(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	t, _ := reflect.TypeAssert[time.Time](v) // only time.Time has this plan
	out, err := t.AppendText(append(dst, '"'))
	return append(out, '"'), err == nil
}

// appendStandard encodes a value with encoding/json. It passes a pointer to an
// addressable value because encoding/json treats such values differently.
func (e *Encoder) appendStandard(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
	if v.CanAddr() {
		v = v.Addr()
	}
	out, err := e.appendAny(dst, v.Interface())
	return out, err == nil
}
