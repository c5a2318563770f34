package xbind

import (
	"encoding"
	"encoding/json"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// plan says what encoding/json does with the JSON values that fill a type: which members of an object
// reach the same field, and which reach none.
type plan struct {
	typ reflect.Type // nil: any value

	fields []planField
	names  map[string]int // the index of a field by its name, and by the form that appendFold gives it

	closed  bool  // an object's members are fields or unknown
	members *plan // of an object that are no fields
	element *plan // of a list

	own    bool // the type decodes itself
	quoted bool // the field has the string option
}

type planField struct {
	name []byte
	plan *plan
}

var (
	plans jsonplan.Cache[reflect.Type, *plan]

	anyPlan = newAnyPlan()

	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// newAnyPlan returns the plan of values that nothing is known of.
func newAnyPlan() *plan {
	p := &plan{}
	p.members, p.element = p, p
	return p
}

// planOf returns the plan of a type, which is made once.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p
	}
	p := makePlan(t, map[reflect.Type]*plan{})
	plans.Store(t, p)
	return p
}

// makePlan makes the plan of a type; making are those of the types around it, which may contain themselves.
func makePlan(t reflect.Type, making map[reflect.Type]*plan) *plan {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if p, ok := making[t]; ok {
		return p
	}
	p := &plan{typ: t, members: anyPlan, element: anyPlan}
	making[t] = p
	if pt := reflect.PointerTo(t); pt.Implements(unmarshaler) || pt.Implements(textUnmarshaler) {
		p.own = true
		return p
	}
	switch t.Kind() {
	case reflect.Struct:
		p.closed = true
		p.setFields(jsonplan.Fields(t), making)
	case reflect.Map:
		p.members = makePlan(t.Elem(), making)
	case reflect.Slice, reflect.Array:
		p.element = makePlan(t.Elem(), making)
	default:
	}
	return p
}

func (p *plan) setFields(fields []jsonplan.Field, making map[reflect.Type]*plan) {
	p.names = make(map[string]int, 2*len(fields))
	for i, f := range fields {
		child := makePlan(f.Type, making)
		if f.Quoted {
			quoted := *child
			quoted.quoted = true
			child = &quoted
		}
		p.fields = append(p.fields, planField{name: []byte(f.Name), plan: child})
		p.names[f.Name] = i
	}
	for i, f := range fields {
		fold := string(appendFold(nil, []byte(f.Name)))
		if _, taken := p.names[fold]; !taken {
			p.names[fold] = i
		}
	}
}

// field returns the index of the field that a member fills, or -1: the field of this name, else the first
// whose name differs in case only.
func (p *plan) field(name []byte) int {
	if i, ok := p.names[string(name)]; ok {
		return i
	}
	if len(p.names) == 0 {
		return -1
	}
	var scratch [64]byte
	if i, ok := p.names[string(appendFold(scratch[:0], name))]; ok {
		return i
	}
	return -1
}

// appendFold appends the form that all names share which differ in case only (Unicode simple folding).
func appendFold(dst, name []byte) []byte {
	for len(name) > 0 {
		if c := name[0]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			dst, name = append(dst, c), name[1:]
			continue
		}
		r, n := utf8.DecodeRune(name)
		least := r
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			least = min(least, o)
		}
		dst, name = utf8.AppendRune(dst, least), name[n:]
	}
	return dst
}

// refuses reports whether the type refuses a value whose members or elements it takes.
func (p *plan) refuses(value []byte) bool {
	if p.typ == nil || string(value) == "null" || !p.own && p.contains(value[0]) {
		return false
	}
	if p.quoted {
		var inner string
		if json.Unmarshal(value, &inner) != nil {
			return true
		}
		value = []byte(inner)
	}
	return json.Unmarshal(value, reflect.New(p.typ).Interface()) != nil
}

// contains reports whether the type can hold the members or elements of a value by its first byte.
func (p *plan) contains(first byte) bool {
	switch p.typ.Kind() {
	case reflect.Struct:
		return first == '{'
	case reflect.Map:
		return first == '{' && p.typ.Key().Kind() == reflect.String
	case reflect.Slice, reflect.Array:
		return first == '['
	case reflect.Interface:
		return p.typ.NumMethod() == 0
	default:
		return false
	}
}
