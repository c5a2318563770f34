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
	typ reflect.Type

	fields []planField
	exact  map[string]int // where the fields are too many to be compared one by one
	folded map[string]int

	closed  bool  // an object's members are fields or unknown
	member  *plan // of an object's members that are no field
	element *plan // of a list

	own    bool // the type decodes itself
	quoted bool // the field has the string option
}

type planField struct {
	name string
	plan *plan
}

// linearFields is the number of fields up to which a name is compared with each.
const linearFields = 12

var (
	plans jsonplan.Cache[reflect.Type, *plan]

	anyPlan = newAnyPlan()

	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// newAnyPlan returns the plan of values that nothing is known of.
func newAnyPlan() *plan {
	p := &plan{}
	p.member, p.element = p, p
	return p
}

// planOf returns the plan of a type, which is made once.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p
	}
	making := map[reflect.Type]*plan{}
	p := makePlan(t, making)
	for t, p := range making { // complete only now, as types may contain themselves
		plans.Store(t, p)
	}
	plans.Store(t, p)
	return p
}

func makePlan(t reflect.Type, making map[reflect.Type]*plan) *plan {
	for t.Kind() == reflect.Pointer && !t.Implements(unmarshaler) {
		t = t.Elem()
	}
	if p, ok := making[t]; ok {
		return p
	}
	p := &plan{typ: t, member: anyPlan, element: anyPlan}
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
		p.member = makePlan(t.Elem(), making)
	case reflect.Slice, reflect.Array:
		p.element = makePlan(t.Elem(), making)
	default:
	}
	return p
}

func (p *plan) setFields(fields []jsonplan.Field, making map[reflect.Type]*plan) {
	p.folded = make(map[string]int, len(fields))
	if len(fields) > linearFields {
		p.exact = make(map[string]int, len(fields))
	}
	for i, f := range fields {
		child := makePlan(f.Type, making)
		if f.Quoted {
			quoted := *child
			quoted.quoted = true
			child = &quoted
		}
		p.fields = append(p.fields, planField{name: f.Name, plan: child})
		if p.exact != nil {
			p.exact[f.Name] = i
		}
		fold := string(appendFold(nil, []byte(f.Name)))
		if _, taken := p.folded[fold]; !taken {
			p.folded[fold] = i
		}
	}
}

// field returns the index of the field that a member fills, or -1: the field of this name, else the first
// whose name differs in case only.
func (p *plan) field(name []byte) int {
	if len(p.fields) == 0 {
		return -1
	}
	if p.exact != nil {
		if i, ok := p.exact[string(name)]; ok {
			return i
		}
	} else {
		for i := range p.fields {
			if p.fields[i].name == string(name) {
				return i
			}
		}
	}
	var scratch [64]byte
	if i, ok := p.folded[string(appendFold(scratch[:0], name))]; ok {
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

// refuses reports whether the type itself refuses a value, for the kinds of refusal that encoding/json
// reports without saying where.
func (p *plan) refuses(value []byte) bool {
	switch {
	case string(value) == "null":
		return false
	case p.quoted:
		var inner string
		if json.Unmarshal(value, &inner) != nil {
			return false // a type error, which says where it is
		}
		return json.Unmarshal([]byte(inner), reflect.New(p.typ).Interface()) != nil
	case p.own, p.typ != nil && p.typ.Kind() == reflect.Slice && p.typ.Elem().Kind() == reflect.Uint8: // or Base64
		return json.Unmarshal(value, reflect.New(p.typ).Interface()) != nil
	default:
		return false
	}
}
