package xvalid

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

// maxNesting bounds how deep a value may be nested, in pointers, structs and elements. It is more than JSON
// can reach: encoding/json stops at 10,000 levels, each of which is at most four of these. So only a
// value that contains itself exceeds it.
const maxNesting = 40_000

// tooDeep is the error for a value that contains itself, which would overflow the stack.
func tooDeep(t reflect.Type) error {
	return &RuleError{Type: t, Problem: fmt.Sprintf("the value contains itself, or is nested more than %d levels deep", maxNesting)}
}

// nestedField is a field of a struct into which the validator looks.
type nestedField struct {
	index int
	dive  bool // the elements of a slice or a map are validated
}

// nestedFields contains the nested fields of each struct type that was validated.
var nestedFields jsonplan.Cache[reflect.Type, []nestedField]

// findNestedFields returns the nested fields of a struct type.
func findNestedFields(t reflect.Type) []nestedField {
	var fields []nestedField
	for i := range t.NumField() {
		f := t.Field(i)
		rules := strings.Split(f.Tag.Get(tagName), ",")
		skipped := slices.ContainsFunc(rules, func(rule string) bool {
			return rule == "-" || rule == "structonly" || rule == "nostructlevel"
		})
		if !skipped && (f.IsExported() || f.Anonymous) && holdsStructs(f.Type) {
			fields = append(fields, nestedField{index: i, dive: slices.Contains(rules, "dive")})
		}
	}
	return fields
}

// holdsStructs reports whether a value of the type may contain a struct.
func holdsStructs(t reflect.Type) bool {
	const deepest = 32 // a type may be a pointer to itself, or a list of itself
	for range deepest {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return t.Kind() == reflect.Struct || t.Kind() == reflect.Interface
		}
	}
	return true
}

// exceeds reports whether v, at a depth, is nested deeper than maxNesting in what the validator
// looks into; dive says that it looks into the elements of v.
func exceeds(v reflect.Value, dive bool, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && exceeds(v.Elem(), dive, depth+1)
	case reflect.Struct:
		for _, f := range nestedFields.Get(v.Type(), findNestedFields) {
			if exceeds(v.Field(f.index), f.dive, depth+1) {
				return true
			}
		}
	case reflect.Slice, reflect.Array, reflect.Map:
		return dive && holdsStructs(v.Type()) && elementExceeds(v, depth+1)
	default:
	}
	return false
}

// elementExceeds is exceeds for the elements of a slice or a map.
func elementExceeds(v reflect.Value, depth int) bool {
	for _, element := range v.Seq2() {
		if exceeds(element, true, depth) {
			return true
		}
	}
	return false
}
