package xbind

import (
	"encoding/json"
	"maps"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// plan describes how encoding/json decodes JSON into a type: which members of an object
// fill which field, and which are unknown.
type plan struct {
	typ reflect.Type // nil for any value

	names  map[string]*planField // fields by name
	folded map[string]*planField // fields by the result of appendFold

	isStruct bool  // members are fields or unknown
	members  *plan // plan of members that are not fields
	element  *plan // plan of list elements

	decodesItself bool
	quoted        bool // the field has the option "string"
}

type planField struct {
	name    []byte
	plan    *plan
	exclude bool // the member must not fill the field
}

var (
	plans jsonplan.Cache[reflect.Type, *plan]

	anyPlan = newAnyPlan()
)

func newAnyPlan() *plan {
	p := &plan{}
	p.members, p.element = p, p
	return p
}

func planOf(t reflect.Type) *plan {
	return plans.Get(t, func(t reflect.Type) *plan { return makePlan(t, map[reflect.Type]*plan{}) })
}

// makePlan computes the plan of a type. making contains the incomplete plans of the
// enclosing types, because a type may be recursive.
func makePlan(t reflect.Type, making map[reflect.Type]*plan) *plan {
	t = indirect(t)
	if p, ok := making[t]; ok {
		return p
	}
	p := &plan{typ: t, members: anyPlan, element: anyPlan}
	making[t] = p
	if jsonplan.DecodesItself(t) {
		p.decodesItself = true
		return p
	}
	switch t.Kind() {
	case reflect.Struct:
		p.isStruct = true
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

// without returns a plan in which no member fills the fields with the given names.
func (p *plan) without(names []string) *plan {
	if !p.isStruct || len(names) == 0 {
		return p
	}
	changed := *p
	changed.names, changed.folded = maps.Clone(p.names), maps.Clone(p.folded)
	for _, name := range names {
		f := *p.names[name]
		f.exclude = true
		changed.names[name] = &f
		if fold := string(appendFold(nil, f.name)); p.folded[fold] == p.names[name] {
			changed.folded[fold] = &f
		}
	}
	return &changed
}

// field returns the field that a member fills, or nil. An exact match has priority over
// the first field whose name differs in case only. Lookups use maps, because a client may
// send many names.
func (p *plan) field(name []byte) *planField {
	if f, ok := p.names[string(name)]; ok || !p.isStruct {
		return f
	}
	var scratch [64]byte
	return p.folded[string(appendFold(scratch[:0], name))]
}

// appendFold appends the canonical form of names that differ in case only (Unicode simple
// folding).
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

// rejects reports whether the type cannot decode the value. It returns false for an
// object or a list whose members or elements are checked separately.
func (p *plan) rejects(value []byte) bool {
	if p.typ == nil || string(value) == "null" || !p.decodesItself && p.contains(value[0]) {
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

// contains reports whether the type has members or elements for a value with this first
// byte.
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
