package xbase

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// appender appends a value of one type. It reports false if the value cannot be encoded:
// encoding/json says best why.
//
// The appenders know the plain types of which most payloads are made: structs, lists and pointers
// of texts, numbers, truth values and times. The result is that of encoding/json of Go 1.27 to the
// byte; whatever is not plain (own encodings, maps, embedded structs, interfaces) is left to it, as
// the value of a field or as a whole.
type appender func(dst []byte, v reflect.Value) ([]byte, bool)

// appenders has the appender of each type that was encoded.
var appenders jsonplan.Cache[reflect.Type, appender]

// appenderOf returns the appender of a type.
func appenderOf(t reflect.Type) appender {
	return appenders.Get(t, func(t reflect.Type) appender { return compile(t, nil) })
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	numberType    = reflect.TypeFor[json.Number]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

	// scalars has the appenders of the kinds that need nothing else.
	scalars = map[reflect.Kind]appender{
		reflect.Bool: appendBool, reflect.String: appendText, reflect.Float32: appendFloat, reflect.Float64: appendFloat,
		reflect.Int: appendInt, reflect.Int8: appendInt, reflect.Int16: appendInt, reflect.Int32: appendInt,
		reflect.Int64: appendInt, reflect.Uint: appendUint, reflect.Uint8: appendUint, reflect.Uint16: appendUint,
		reflect.Uint32: appendUint, reflect.Uint64: appendUint, reflect.Uintptr: appendUint,
	}
)

// compile makes the appender of a type. A type inside itself is foreign there: encoding/json knows
// how to end in a circle.
func compile(t reflect.Type, around []reflect.Type) appender {
	switch {
	case t == timeType:
		return appendInstant
	case slices.Contains(around, t), encodesItself(t):
		return appendForeign
	}
	around = append(slices.Clip(around), t)
	switch t.Kind() { //nolint:exhaustive // the other kinds are in the table, or foreign
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return listOf(compile(t.Elem(), around))
		}
	case reflect.Pointer:
		return pointerTo(compile(t.Elem(), around))
	case reflect.Struct:
		return compileStruct(t, around)
	}
	if a, ok := scalars[t.Kind()]; ok {
		return a
	}
	return appendForeign
}

// encodesItself reports whether a type has an encoding of its own.
func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == numberType || t.Implements(marshaler) || t.Implements(textMarshaler) ||
		p.Implements(marshaler) || p.Implements(textMarshaler)
}

// compileStruct makes the appender of a struct: foreign if it embeds fields, or has a tag whose
// options are not known.
func compileStruct(t reflect.Type, around []reflect.Type) appender {
	var members object
	for _, f := range jsonplan.Fields(t) {
		m := member{append: compile(f.Type, around), index: f.Index[0], quoted: f.Quoted}
		if len(f.Index) > 1 || !m.readOptions(f) {
			return appendForeign
		}
		m.key = string(appendString([]byte{','}, f.Name)) + ":"
		if m.quoted {
			m.key += `"`
		}
		members = append(members, m)
	}
	return members.append
}

// object has the members of a struct.
type object []member

// member is a field of a struct.
type member struct {
	append    appender
	key       string // as JSON: comma, name, colon, and the quote of a quoted value
	index     int
	omitEmpty bool
	quoted    bool
}

// readOptions takes over the options of a tag. It reports false for one that it does not know, and for
// quoted values that are not written as they are.
func (m *member) readOptions(f jsonplan.Field) bool {
	for option := range strings.SplitSeq(f.Options, ",") {
		switch option {
		case "", "string":
		case "omitempty":
			m.omitEmpty = true
		default:
			return false
		}
	}
	_, scalar := scalars[f.Type.Kind()]
	return !f.Quoted || scalar && f.Type.Kind() != reflect.String && !encodesItself(f.Type)
}

func (o object) append(dst []byte, v reflect.Value) ([]byte, bool) {
	dst = append(dst, '{')
	skip := len(",") // the first member has none
	for i := range o {
		m := &o[i]
		value := v.Field(m.index)
		if m.omitEmpty && isEmpty(value) {
			continue
		}
		dst = append(dst, m.key[skip:]...)
		skip = 0
		var ok bool
		if dst, ok = m.append(dst, value); !ok {
			return dst, false
		}
		if m.quoted {
			dst = append(dst, '"')
		}
	}
	return append(dst, '}'), true
}

func listOf(element appender) appender {
	return func(dst []byte, v reflect.Value) ([]byte, bool) {
		if v.IsNil() {
			return append(dst, null...), true
		}
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			var ok bool
			if dst, ok = element(dst, v.Index(i)); !ok {
				return dst, false
			}
		}
		return append(dst, ']'), true
	}
}

func pointerTo(element appender) appender {
	return func(dst []byte, v reflect.Value) ([]byte, bool) {
		if v.IsNil() {
			return append(dst, null...), true
		}
		return element(dst, v.Elem())
	}
}

func appendBool(dst []byte, v reflect.Value) ([]byte, bool) {
	return strconv.AppendBool(dst, v.Bool()), true
}

func appendInt(dst []byte, v reflect.Value) ([]byte, bool) {
	return strconv.AppendInt(dst, v.Int(), 10), true
}

func appendUint(dst []byte, v reflect.Value) ([]byte, bool) {
	return strconv.AppendUint(dst, v.Uint(), 10), true
}

func appendText(dst []byte, v reflect.Value) ([]byte, bool) {
	if out, plain := appendPlain(dst, v.String()); plain {
		return out, true
	}
	return appendForeign(dst, v) // v is an interface without a copy, its text would need one
}

// Between these numbers encoding/json surely writes no exponent, whatever their precision: it does below
// 1e-6 and from 1e21 on.
const (
	minPlain = 2e-6
	maxPlain = 5e20
)

func appendFloat(dst []byte, v reflect.Value) ([]byte, bool) {
	n := v.Float()
	if size := math.Abs(n); size < minPlain && size != 0 || !(size < maxPlain) { // the latter is true of NaN
		return appendForeign(dst, v)
	}
	return strconv.AppendFloat(dst, n, 'f', -1, v.Type().Bits()), true
}

func appendInstant(dst []byte, v reflect.Value) ([]byte, bool) {
	var t time.Time
	if v.CanAddr() {
		t = *v.Addr().Interface().(*time.Time) //nolint:forcetypeassert // the type has this plan
	} else {
		t = v.Interface().(time.Time) //nolint:forcetypeassert // likewise
	}
	out, err := t.AppendText(append(dst, '"'))
	return append(out, '"'), err == nil
}

// appendForeign leaves one value to encoding/json, which treats one that has an address differently.
func appendForeign(dst []byte, v reflect.Value) ([]byte, bool) {
	if v.CanAddr() {
		v = v.Addr()
	}
	out, err := appendAny(dst, v.Interface())
	return out, err == nil
}

// isEmpty reports whether omitempty leaves v out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128:
		return false
	default:
		return v.IsZero()
	}
}
