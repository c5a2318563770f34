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
	nilable := t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface
	inner := &Schema{} // the rules after omitempty
	target := s
	if target.Ref != nil {
		target = inner
	}
	var other []string
	required, always := false, false
	for _, rule := range l.rules {
		name, param, _ := strings.Cut(rule, "=")
		switch name {
		case "omitempty", "omitzero":
			r.optional, target = true, inner
		case "omitnil":
			r.optional = r.optional || nilable
		case "required":
			required = required || !r.optional
			if !nilable {
				merge(target, requiredOf(c))
			}
		default:
			fragment, exact := keywords(rule, name, param, c, indirect(t))
			if fragment != nil {
				merge(target, fragment)
			}
			if !exact {
				other = append(other, rule)
			}
		}
		always = always || !r.optional
	}
	b.applyElements(s, indirect(t), dir, l)
	if nilable {
		r.rejectsNil = always || l.elements != nil && !r.optional
		r.rejectsZero = r.rejectsNil
		merge(s, inner)
	} else {
		r.rejectsNil = required || !r.optional && rejectsEmpty(inner, s, c)
		r.rejectsZero = required && c != classStruct || !accepts(s, c, t)
		s.simplify(c, t)
		s.exempt(inner, r.optional, c, t)
	}
	s.Binding = strings.Join(other, ",")
	return r
}

// simplify removes the keyword of the rule required if another keyword rejects zero.
func (s *Schema) simplify(c class, t reflect.Type) {
	not := s.Not
	if not == nil || not.Const != zeroOf(c, t) {
		return
	}
	s.Not = nil
	if accepts(s, c, t) {
		s.Not = not
	}
}

// rejectsEmpty reports whether the rules reject an empty list, and so a nil list.
func rejectsEmpty(inner, s *Schema, c class) bool {
	for _, s := range []*Schema{inner, s} {
		if c == classList && s.MinItems != nil && *s.MinItems > 0 ||
			c == classMap && s.MinProperties != nil && *s.MinProperties > 0 {
			return true
		}
	}
	return false
}

// exempt adds the rules in inner to s. If they are optional, they do not apply to the
// zero value.
func (s *Schema) exempt(inner *Schema, optional bool, c class, t reflect.Type) {
	zero := zeroOf(c, t)
	switch {
	case !optional || zero == nil || accepts(inner, c, t):
		merge(s, inner)
	case inner.Enum != nil && onlyEnum(inner):
		inner.Enum = append([]any{zero}, inner.Enum...)
		merge(s, inner)
	default:
		s.AnyOf = append(s.AnyOf, &Schema{Const: zero}, inner)
	}
}

func onlyEnum(s *Schema) bool {
	return reflect.DeepEqual(s, &Schema{Enum: s.Enum})
}

// zeroOf returns the JSON of a zero value to which omitempty applies, or nil.
func zeroOf(c class, t reflect.Type) any {
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
func accepts(s *Schema, c class, t reflect.Type) bool {
	ok := true
	switch c {
	case classText:
		ok = acceptsEmpty(s)
	case classInt, classFloat:
		ok = s.inRange(0)
	case classList:
		ok = s.MinItems == nil || *s.MinItems == 0 || t.Kind() == reflect.Array
	case classMap:
		ok = s.MinProperties == nil || *s.MinProperties == 0
	case classID:
		return s.Pattern != patternPositive
	case classOther, classBool, classStruct:
	}
	zero := zeroOf(c, t)
	if zero == nil {
		return ok
	}
	return ok && (s.Enum == nil || slices.Contains(s.Enum, zero)) &&
		(s.Const == nil || s.Const == zero) &&
		(s.Not == nil || !rejectsByNot(s.Not, c, t)) &&
		!slices.ContainsFunc(s.AllOf, func(s *Schema) bool { return !accepts(s, c, t) }) &&
		(s.AnyOf == nil ||
			slices.ContainsFunc(s.AnyOf, func(s *Schema) bool { return accepts(s, c, t) }))
}

// rejectsByNot reports whether the schema of a not keyword accepts the zero value.
func rejectsByNot(s *Schema, c class, t reflect.Type) bool {
	return (s.Const != nil || s.Enum != nil || s.Pattern != "") && accepts(s, c, t)
}

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
