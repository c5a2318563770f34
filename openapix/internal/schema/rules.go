package schema

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// level contains the rules of a value and of its elements.
type level struct {
	rules    []string
	elements *level // rules after dive
	keys     *level // rules between keys and endkeys
}

// parse splits a binding tag into its levels.
func parse(tag string) *level {
	root := &level{}
	at := root
	var outer []*level // levels that a keys rule has interrupted
	for rule := range strings.SplitSeq(tag, ",") {
		switch rule {
		case "", "-":
		case "dive":
			at.elements = &level{}
			at = at.elements
		case "keys":
			outer = append(outer, at)
			at.keys = &level{}
			at = at.keys
		case "endkeys":
			if len(outer) > 0 {
				at, outer = outer[len(outer)-1], outer[:len(outer)-1]
			}
		default:
			at.rules = append(at.rules, rule)
		}
	}
	return root
}

// result describes which values the rules of a field reject.
type result struct {
	rejectsZero bool // the zero value, so that a request requires the field
	rejectsNil  bool // null
	optional    bool // the rules do not apply to the zero value
}

// apply adds the rules of a tag to the schema of a value. t is its type, which may be a
// pointer.
func (b *Builder) apply(s *Schema, t reflect.Type, c class, dir Direction, tag string) result {
	if tag == "" || tag == "-" {
		return result{}
	}
	return b.applyLevel(s, t, c, dir, parse(tag))
}

func (b *Builder) applyLevel(
	s *Schema, t reflect.Type, c class, dir Direction, l *level,
) (r result) {
	a := newApplication(s, t, c)
	for _, rule := range l.rules {
		a.add(rule)
	}
	b.applyElements(s, indirect(t), dir, l)
	s.Binding = strings.Join(a.other, ",")
	r.optional = a.optional
	if a.nilable {
		r.rejectsNil = a.always || l.elements != nil && !a.optional
		r.rejectsZero = r.rejectsNil
		merge(s, a.inner)
		return r
	}
	r.rejectsNil = a.required || !a.optional && rejectsEmpty(s, c)
	r.rejectsZero = a.required && c != classStruct || !accepts(s, c)
	s.simplify(c)
	s.exempt(a.inner, a.optional, c)
	return r
}

// application adds the rules of one level to a schema.
type application struct {
	typ     reflect.Type // not a pointer
	class   class
	nilable bool // the value is a pointer or an interface

	target *Schema // of the next rule
	inner  *Schema // rules after omitempty, and those of a reference

	optional bool     // omitempty precedes the next rule
	required bool     // the rule required applies
	always   bool     // a rule applies to nil
	other    []string // rules without exact keywords
}

func newApplication(s *Schema, t reflect.Type, c class) *application {
	a := &application{
		typ: indirect(t), class: c, target: s, inner: &Schema{},
		nilable: t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface,
	}
	if s.Ref != nil {
		a.target = a.inner
	}
	return a
}

func (a *application) add(rule string) {
	name, param, _ := strings.Cut(rule, "=")
	switch name {
	case "omitempty", "omitzero":
		a.optional, a.target = true, a.inner
	case "omitnil":
		a.optional = a.optional || a.nilable
	case "required":
		a.required = a.required || !a.optional
		if !a.nilable {
			merge(a.target, requiredOf(a.class))
		}
	default:
		fragment, exact := keywords(rule, name, param, a.class, a.typ)
		if fragment != nil {
			merge(a.target, fragment)
		}
		if !exact {
			a.other = append(a.other, rule)
		}
	}
	a.always = a.always || !a.optional
}

// simplify removes the keyword of the rule required if another keyword rejects zero.
func (s *Schema) simplify(c class) {
	not := s.Not
	if not == nil || not.Const != zeroOf(c) {
		return
	}
	s.Not = nil
	if accepts(s, c) {
		s.Not = not
	}
}

// rejectsEmpty reports whether the rules reject an empty list, and so a nil list.
func rejectsEmpty(s *Schema, c class) bool {
	return (c == classList || c == classMap) && !accepts(s, c)
}

// exempt adds the rules in inner to s. If they are optional, they do not apply to the
// zero value. Generators of clients ignore the keywords if and then, but would make a
// union of anyOf.
func (s *Schema) exempt(inner *Schema, optional bool, c class) {
	zero := zeroOf(c)
	switch {
	case !optional || zero == nil || accepts(inner, c):
		merge(s, inner)
	case inner.Enum != nil && onlyEnum(inner):
		inner.Enum = append([]any{zero}, inner.Enum...)
		merge(s, inner)
	default:
		s.If, s.Then = &Schema{Not: &Schema{Const: zero}}, inner
	}
}

func onlyEnum(s *Schema) bool {
	return reflect.DeepEqual(s, &Schema{Enum: s.Enum})
}

// zeroOf returns the JSON of a zero value to which omitempty applies, or nil.
func zeroOf(c class) any {
	switch c {
	case classText:
		return ""
	case classInt, classFloat:
		return json.Number("0")
	case classBool:
		return false
	case classID:
		return "0"
	default:
		return nil
	}
}

func (b *Builder) applyElements(s *Schema, t reflect.Type, dir Direction, l *level) {
	if l.elements == nil {
		return
	}
	elements := s.Items
	if t.Kind() == reflect.Map {
		elements = s.AdditionalProperties
		if keys := l.elements.keys; keys != nil {
			s.PropertyNames = cmp.Or(s.PropertyNames, &Schema{})
			b.applyLevel(s.PropertyNames, t.Key(), textClass(t.Key()), dir, keys)
		}
	}
	if elements == nil {
		return
	}
	elem := t.Elem()
	plain := b.base(indirect(elem), dir)
	r := b.applyLevel(plain, elem, classOf(indirect(elem), plain), dir, l.elements)
	if canBeNull(elem, dir) && !r.rejectsNil {
		plain = Nullable(plain)
	}
	*elements = *plain
}

func textClass(t reflect.Type) class {
	if t.Kind() == reflect.String {
		return classText
	}
	return classOther
}

// accepts reports whether the zero value of a class conforms to the keywords of s.
func accepts(s *Schema, c class) bool {
	one := func(list []*Schema, want bool) bool {
		return slices.ContainsFunc(list, func(s *Schema) bool { return accepts(s, c) == want })
	}
	return acceptsKind(s, c) && acceptsLiteral(s, zeroOf(c)) && !one(s.AllOf, false) &&
		(s.AnyOf == nil || one(s.AnyOf, true)) && (s.Not == nil || !accepts(s.Not, c))
}

// acceptsLiteral applies the keywords enum and const. A nil value is of any kind.
func acceptsLiteral(s *Schema, zero any) bool {
	return zero == nil || (s.Enum == nil || slices.Contains(s.Enum, zero)) &&
		(s.Const == nil || s.Const == zero)
}

// acceptsKind applies the keywords of one kind of values.
func acceptsKind(s *Schema, c class) bool {
	switch c {
	case classText:
		return acceptsEmpty(s)
	case classInt, classFloat:
		return s.inRange(0)
	case classList:
		return isZero(s.MinItems)
	case classMap:
		return isZero(s.MinProperties)
	case classID:
		return s.Pattern != patternPositive
	default:
		return true
	}
}

func isZero(n *int64) bool { return n == nil || *n == 0 }

func acceptsEmpty(s *Schema) bool {
	if s.Format != "" || s.MinLength != nil && *s.MinLength > 0 {
		return false
	}
	if s.Pattern == "" {
		return true
	}
	matched, _ := regexp.MatchString(s.Pattern, "")
	return matched
}

func (s *Schema) inRange(n float64) bool {
	float := func(n json.Number) float64 {
		f, _ := n.Float64()
		return f
	}
	return (s.Minimum == "" || n >= float(s.Minimum)) &&
		(s.Maximum == "" || n <= float(s.Maximum)) &&
		(s.ExclusiveMinimum == "" || n > float(s.ExclusiveMinimum)) &&
		(s.ExclusiveMaximum == "" || n < float(s.ExclusiveMaximum))
}
