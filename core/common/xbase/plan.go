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

// plan says how to append the values of one type. It knows the plain types of which most payloads are
// made: structs, lists and pointers of texts, numbers, truth values and times. The result is that of
// encoding/json of Go 1.27 to the byte; whatever is not plain (own encodings, maps, embedded structs, interfaces) is
// left to it, as the value of a field or as a whole.
type plan struct {
	form   form
	elem   *plan // of a list or a pointer
	fields []field
}

// form is what a plan does with a value.
type form uint8

const (
	foreign form = iota // encoding/json does it
	truth
	signed
	unsigned
	number
	text
	instant
	list
	pointer
	object
)

// field is a member of an object.
type field struct {
	*plan
	key       string // as JSON, with the comma before it and the colon after, and the quote of a quoted value
	index     int
	omitEmpty bool
	quoted    bool
}

// plans holds the plan of each type that was encoded.
var plans jsonplan.Cache[reflect.Type, *plan]

// planOf returns the plan of a type.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p
	}
	p := compile(t, nil)
	plans.Store(t, p)
	return p
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	numberType    = reflect.TypeFor[json.Number]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()

	// forms are those of the kinds that need nothing else.
	forms = map[reflect.Kind]form{
		reflect.Bool: truth, reflect.String: text, reflect.Float32: number, reflect.Float64: number,
		reflect.Int: signed, reflect.Int8: signed, reflect.Int16: signed, reflect.Int32: signed, reflect.Int64: signed,
		reflect.Uint: unsigned, reflect.Uint8: unsigned, reflect.Uint16: unsigned, reflect.Uint32: unsigned,
		reflect.Uint64: unsigned, reflect.Uintptr: unsigned,
	}
)

// compile makes the plan of a type. A type inside itself is foreign there: encoding/json knows how to
// end in a circle.
func compile(t reflect.Type, around []reflect.Type) *plan {
	if slices.Contains(around, t) {
		return &plan{}
	}
	around = append(slices.Clip(around), t)
	switch p := reflect.PointerTo(t); {
	case t == timeType:
		return &plan{form: instant}
	case t == numberType, p.Implements(marshaler), p.Implements(textMarshaler):
		return &plan{}
	}
	switch t.Kind() { //nolint:exhaustive // the other kinds are in the table, or foreign
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &plan{}
		}
		return &plan{form: list, elem: compile(t.Elem(), around)}
	case reflect.Pointer:
		if t.Implements(marshaler) || t.Implements(textMarshaler) {
			return &plan{}
		}
		return &plan{form: pointer, elem: compile(t.Elem(), around)}
	case reflect.Struct:
		return compileStruct(t, around)
	}
	return &plan{form: forms[t.Kind()]}
}

// compileStruct makes the plan of a struct: foreign if it embeds fields, or has a tag whose options are not
// known.
func compileStruct(t reflect.Type, around []reflect.Type) *plan {
	var fields []field
	for _, f := range jsonplan.Fields(t) {
		member := field{plan: compile(f.Type, around), index: f.Index[0], quoted: f.Quoted}
		if len(f.Index) > 1 || !member.readOptions(f.Options) {
			return &plan{}
		}
		member.key = string(appendString([]byte{','}, f.Name)) + ":"
		if member.quoted {
			member.key += `"`
		}
		fields = append(fields, member)
	}
	return &plan{form: object, fields: fields}
}

// readOptions takes over the options of a tag. It reports false for one that it does not know, and for
// quoted values that are not written as they are.
func (f *field) readOptions(options string) bool {
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "", "string":
		case "omitempty":
			f.omitEmpty = true
		default:
			return false
		}
	}
	return !f.quoted || truth <= f.form && f.form <= number
}

// append appends v. It reports false where v cannot be encoded: encoding/json says best why.
func (p *plan) append(dst []byte, v reflect.Value) ([]byte, bool) {
	switch p.form {
	case truth:
		return strconv.AppendBool(dst, v.Bool()), true
	case signed:
		return strconv.AppendInt(dst, v.Int(), 10), true
	case unsigned:
		return strconv.AppendUint(dst, v.Uint(), 10), true
	case number:
		return appendFloat(dst, v)
	case text:
		return appendString(dst, v.String()), true
	case instant:
		return appendInstant(dst, v)
	case object:
		return p.appendObject(dst, v)
	case list:
		return p.appendList(dst, v)
	case pointer:
		if v.IsNil() {
			return append(dst, null...), true
		}
		return p.elem.append(dst, v.Elem())
	default:
		return appendForeign(dst, v)
	}
}

func (p *plan) appendObject(dst []byte, v reflect.Value) ([]byte, bool) {
	dst = append(dst, '{')
	skip := len(",") // the first member has none
	for i := range p.fields {
		f := &p.fields[i]
		value := v.Field(f.index)
		if f.omitEmpty && isEmpty(value) {
			continue
		}
		dst = append(dst, f.key[skip:]...)
		skip = 0
		var ok bool
		if dst, ok = f.append(dst, value); !ok {
			return dst, false
		}
		if f.quoted {
			dst = append(dst, '"')
		}
	}
	return append(dst, '}'), true
}

func (p *plan) appendList(dst []byte, v reflect.Value) ([]byte, bool) {
	if v.IsNil() {
		return append(dst, null...), true
	}
	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = p.elem.append(dst, v.Index(i)); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
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
