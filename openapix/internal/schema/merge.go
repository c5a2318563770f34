package schema

import (
	"encoding/json"
)

// merge adds the keywords of a rule to a schema. If both have bounds, the stricter bound
// is used. If both have another keyword, the rule is added with allOf.
func merge(s, rule *Schema) {
	if s.conflicts(rule) {
		s.AllOf = append(s.AllOf, rule)
		return
	}
	s.MinLength, s.MaxLength = higher(s.MinLength, rule.MinLength), lower(s.MaxLength, rule.MaxLength)
	s.MinItems, s.MaxItems = higher(s.MinItems, rule.MinItems), lower(s.MaxItems, rule.MaxItems)
	s.MinProperties = higher(s.MinProperties, rule.MinProperties)
	s.MaxProperties = lower(s.MaxProperties, rule.MaxProperties)
	s.Minimum = stricter(s.Minimum, rule.Minimum, 1)
	s.Maximum = stricter(s.Maximum, rule.Maximum, -1)
	s.ExclusiveMinimum = stricter(s.ExclusiveMinimum, rule.ExclusiveMinimum, 1)
	s.ExclusiveMaximum = stricter(s.ExclusiveMaximum, rule.ExclusiveMaximum, -1)
	if rule.Format != "" {
		s.Format = rule.Format
	}
	if rule.Pattern != "" {
		s.Pattern = rule.Pattern
	}
	if rule.Enum != nil {
		s.Enum = rule.Enum
	}
	if rule.Const != nil {
		s.Const = rule.Const
	}
	if rule.Not != nil {
		s.Not = rule.Not
	}
	if rule.AnyOf != nil {
		s.AnyOf = rule.AnyOf
	}
	s.UniqueItems = s.UniqueItems || rule.UniqueItems
	s.AllOf = append(s.AllOf, rule.AllOf...)
}

// conflicts reports whether both schemas have a keyword that can occur once.
func (s *Schema) conflicts(rule *Schema) bool {
	other := rule.single()
	for i, present := range s.single() {
		if present && other[i] {
			return true
		}
	}
	return false
}

// single reports which of the keywords that can occur once are present. It ignores those
// that a rule replaces: the format of a number and the pattern of an ID.
func (s *Schema) single() [6]bool {
	return [...]bool{
		s.Format != "" && isTextFormat(s.Format), s.Pattern != "" && s.Pattern != patternNatural,
		s.Enum != nil, s.Const != nil, s.Not != nil, s.AnyOf != nil,
	}
}

// isTextFormat reports whether a format is that of a rule, and not of a number.
func isTextFormat(format string) bool {
	switch format {
	case "int32", "int64", "float", "double":
		return false
	default:
		return true
	}
}

func higher(a, b *int64) *int64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func lower(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// stricter returns the larger bound if sign is positive, and the smaller one otherwise.
func stricter(a, b json.Number, sign float64) json.Number {
	if a == "" || b == "" {
		return a + b
	}
	x, _ := a.Float64()
	y, _ := b.Float64()
	if (y-x)*sign > 0 {
		return b
	}
	return a
}
