package jsonenc

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// appender appends a value of one type at a nesting depth. It returns false if it cannot
// encode the value; encoding/json then encodes it or reports the error.
type appender func(dst []byte, v reflect.Value, depth int) ([]byte, bool)

// plan describes how to append values of one type. encoding/json handles rare types,
// maps, and types with their own encoding.
type plan struct {
	append appender // nil until the plan is complete
	plain  bool     // no part of a value is replaced
}

// appender returns the appender of the plan. If the plan is incomplete, the returned
// appender reads it from the plan at each call.
func (p *plan) appender() appender {
	if p.append != nil {
		return p.append
	}
	return func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		return p.append(dst, v, depth)
	}
}

var (
	timeType      = reflect.TypeFor[time.Time]()
	numberType    = reflect.TypeFor[json.Number]()
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func (e *Encoder) planOf(t reflect.Type) *plan {
	return e.plans.Get(t, func(t reflect.Type) *plan {
		return e.compile(t, map[reflect.Type]*plan{})
	})
}

// compile returns the plan of a type. If the type is in plans, compile returns that plan,
// which is incomplete if the type is recursive.
func (e *Encoder) compile(t reflect.Type, plans map[reflect.Type]*plan) *plan {
	if p, ok := plans[t]; ok {
		return p
	}
	p := &plan{plain: e.Replace == nil}
	plans[t] = p
	replace := e.replacement(t)
	switch {
	case replace != nil:
		p.append = func(dst []byte, v reflect.Value, _ int) ([]byte, bool) {
			return e.AppendString(dst, replace(v)), true
		}
	case t == timeType:
		p.append, p.plain = appendTime, true
	case encodesItself(t):
		p.append, p.plain = e.appendStandard, true
	default:
		e.compileKind(p, t, plans)
	}
	return p
}

// replacement calls Replace. It returns nil for interface types.
func (e *Encoder) replacement(t reflect.Type) func(v reflect.Value) string {
	if e.Replace == nil || t.Kind() == reflect.Interface {
		return nil
	}
	return e.Replace(t)
}

func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == numberType || p.Implements(marshaler) || p.Implements(textMarshaler)
}

// compileKind completes the plan of a type that does not define its own encoding.
func (e *Encoder) compileKind(p *plan, t reflect.Type, plans map[reflect.Type]*plan) {
	switch t.Kind() {
	case reflect.Struct:
		p.append, p.plain = e.compileStruct(t, plans)
	case reflect.Interface:
		p.append = nilable(e.appendDynamic)
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		element := e.compile(t.Elem(), plans)
		p.append, p.plain = e.container(t, element), element.plain
	default:
		p.append, p.plain = e.scalar(t.Kind()), true
	}
}

// container returns the appender of a pointer, list or map type. encoding/json encodes
// byte slices and map keys.
func (e *Encoder) container(t reflect.Type, element *plan) appender {
	isBytes := t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
	switch {
	case t.Kind() == reflect.Pointer:
		return pointerTo(element.appender())
	case t.Kind() == reflect.Array:
		return listOf(element.appender())
	case element.plain && (isBytes || t.Kind() == reflect.Map):
		return e.appendStandard
	case t.Kind() == reflect.Map:
		return e.mapOf(t, element.appender())
	default:
		return nilable(listOf(element.appender()))
	}
}

func (e *Encoder) scalar(k reflect.Kind) appender {
	switch k {
	case reflect.Bool:
		return appendBool
	case reflect.String:
		return e.appendText
	case reflect.Float32, reflect.Float64:
		return e.appendFloat
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Uintptr:
		return appendUint
	default: // encoding/json reports that the other kinds are unsupported
		return e.appendStandard
	}
}

// compileStruct returns the appender of a struct. If a tag has unknown options and no
// field is replaced, encoding/json encodes the struct.
func (e *Encoder) compileStruct(
	t reflect.Type, plans map[reflect.Type]*plan,
) (a appender, plain bool) {
	var members object
	plain = true
	hasUnknownOption := false
	for _, f := range jsonplan.Fields(t) {
		value := e.compile(f.Type, plans)
		m := member{append: value.appender(), index: f.Index[0]}
		m.omitEmpty = slices.Contains(f.Options, "omitempty")
		m.omitZero = slices.Contains(f.Options, "omitzero")
		if len(f.Index) > 1 {
			m.embedded = f.Index
		}
		plain = plain && value.plain
		hasUnknownOption = hasUnknownOption || slices.ContainsFunc(f.Options, isUnknown)
		switch {
		case f.Type.Kind() == reflect.Pointer && e.replacement(f.Type) != nil:
			m.append = nilable(m.append)
		case f.Quoted:
			m.append = e.quoted(f.Type, plans)
		}
		m.key = string(e.AppendString([]byte{','}, f.Name)) + ":"
		members = append(members, m)
	}
	if plain && hasUnknownOption {
		return e.appendStandard, true
	}
	return members.append, plain
}

// quoted returns the appender of a field with the option "string". The option applies to
// numbers, booleans, strings and pointers to them.
func (e *Encoder) quoted(t reflect.Type, plans map[reflect.Type]*plan) appender {
	value := e.compile(t, plans).appender()
	switch {
	case e.replacement(t) != nil, encodesItself(t) && t != numberType:
		return value
	case t.Kind() == reflect.Pointer:
		return pointerTo(e.quoted(t.Elem(), plans))
	case t.Kind() == reflect.String && t != numberType:
		return e.appendQuotedText
	}
	return func(dst []byte, v reflect.Value, depth int) ([]byte, bool) {
		dst, ok := value(append(dst, '"'), v, depth)
		return append(dst, '"'), ok
	}
}

type object []member

type member struct {
	append    appender
	key       string // encoded comma, name and colon
	index     int
	embedded  []int // index path of a field of an embedded struct, otherwise nil
	omitEmpty bool
	omitZero  bool
}

// isUnknown reports whether the package does not implement an option of a tag.
func isUnknown(option string) bool {
	return option != "" && option != "string" && option != "omitempty" && option != "omitzero"
}
