package xbind

import (
	"encoding/json"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// plan says what encoding/json does with the JSON values that fill a type: which members
// of an object reach the same field, and which reach none.
type plan struct {
	typ reflect.Type // nil: any value

	names  map[string]*planField // the fields by their names
	folded map[string]*planField // and by the form that appendFold gives these

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
)

// newAnyPlan returns the plan of values that nothing is known of.
func newAnyPlan() *plan {
	p := &plan{}
	p.members, p.element = p, p
	return p
}

// planOf returns the plan of a type, which is made once.
func planOf(t reflect.Type) *plan {
	return plans.Get(t, func(t reflect.Type) *plan { return makePlan(t, map[reflect.Type]*plan{}) })
}

// makePlan makes the plan of a type; making are those of the types around it, which may
// contain themselves.
func makePlan(t reflect.Type, making map[reflect.Type]*plan) *plan {
	t = indirect(t)
	if p, ok := making[t]; ok {
		return p
	}
	p := &plan{typ: t, members: anyPlan, element: anyPlan}
	making[t] = p
	if jsonplan.DecodesItself(t) {
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
	p.names, p.folded = map[string]*planField{}, map[string]*planField{}
	for _, f := range fields {
		child := makePlan(f.Type, making)
		if f.Quoted {
			quoted := *child
			quoted.quoted = true
			child = &quoted
		}
		field := &planField{name: []byte(f.Name), plan: child}
		p.names[f.Name] = field
		if fold := string(appendFold(nil, field.name)); p.folded[fold] == nil {
			p.folded[fold] = field
		}
	}
}

// field returns the field that a member fills, or nil: the field of this name, else the
// first whose name differs in case only. A client may send many names, so it does not
// compare them one by one.
func (p *plan) field(name []byte) *planField {
	if f, ok := p.names[string(name)]; ok || !p.closed {
		return f
	}
	var scratch [64]byte
	return p.folded[string(appendFold(scratch[:0], name))]
}

// appendFold appends the form that all names share which differ in case only (Unicode
// simple folding).
func appendFold(dst, name []byte) []byte {
	for len(name) > 0 {
		r, size := utf8.DecodeRune(name)
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		dst, name = utf8.AppendRune(dst, least), name[size:]
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

// contains reports whether the type can hold the members or elements of a value by its
// first byte.
func (p *plan) contains(first byte) bool {
	switch p.typ.Kind() {
	case reflect.Struct:
		return first == '{'
	case reflect.Map:
		return first == '{' && p.typ.Key().Kind() == reflect.String
	case reflect.Slice, reflect.Array:
		return first == '['
	default:
		return false
	}
}
