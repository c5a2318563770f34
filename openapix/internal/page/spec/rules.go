package spec

import (
	"strings"

	"github.com/plinthgo/plinth/openapix/internal/page/jsontree"
)

// rules returns the constraints in words.
func (s *schema) rules() []string {
	var list []string
	add := func(text string) {
		if text != "" {
			list = append(list, text)
		}
	}
	add(s.between("minLength", "maxLength", "characters"))
	add(s.between("minItems", "maxItems", "items"))
	add(s.between("minProperties", "maxProperties", "members"))
	add(s.limit("minimum", "≥ "))
	add(s.limit("exclusiveMinimum", "> "))
	add(s.limit("maximum", "≤ "))
	add(s.limit("exclusiveMaximum", "< "))
	add(s.limit("multipleOf", "multiple of "))
	if s.get("uniqueItems").True() {
		add("unique items")
	}
	if pattern := s.get("pattern").Str(); pattern != "" {
		add("pattern " + pattern)
	}
	if media := s.get("contentMediaType").Str(); media != "" {
		add(media)
	}
	if binding := s.get("x-binding"); binding != nil {
		add("rule " + plain(binding))
	}
	if s.get("additionalProperties").Kind() == jsontree.Bool &&
		!s.get("additionalProperties").True() {
		add("no other members")
	}
	return list
}

// between returns the limits of a length.
func (s *schema) between(lower, upper, unit string) string {
	from, to := numeral(s.get(lower)), numeral(s.get(upper))
	switch {
	case from == "0" && to == "", from == "" && to == "":
		return ""
	case from == to:
		return quantity(from, unit)
	case to == "":
		return "at least " + quantity(from, unit)
	case from == "", from == "0":
		return "at most " + quantity(to, unit)
	default:
		return from + " to " + to + " " + unit
	}
}

// quantity returns a number with its unit in the singular or plural.
func quantity(number, unit string) string {
	if number == "1" {
		unit = strings.TrimSuffix(unit, "s")
	}
	return number + " " + unit
}

func (s *schema) limit(keyword, sign string) string {
	if n := numeral(s.get(keyword)); n != "" {
		return sign + n
	}
	return ""
}

// plain returns a string without quotes, and another value as JSON.
func plain(v *jsontree.Value) string {
	if v.Kind() == jsontree.String {
		return v.Str()
	}
	return v.JSON()
}

// Strings returns the items of an array, strings without quotes.
func Strings(v *jsontree.Value) []string {
	var list []string
	for _, item := range v.Items() {
		list = append(list, strings.TrimSpace(plain(item)))
	}
	return list
}

func numeral(v *jsontree.Value) string {
	if v.Kind() != jsontree.Number {
		return ""
	}
	return v.Literal()
}
