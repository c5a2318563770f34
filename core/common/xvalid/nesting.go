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

// followed is a field of a struct into which the validator looks, and whose value may contain the struct.
type followed struct {
	index int
	dive  bool // the elements of a slice or a map are validated
}

// followedFields holds the fields of each type that was validated.
var followedFields jsonplan.Cache[reflect.Type, []followed]

// fieldsToFollow returns the fields of a struct type through which a value may contain itself: none for
// most types.
func fieldsToFollow(t reflect.Type) []followed {
	if fields, ok := followedFields.Load(t); ok {
		return fields
	}
	fields := slices.DeleteFunc(validatedFields(t), func(f followed) bool { return !mayRecur(t.Field(f.index).Type, nil) })
	followedFields.Store(t, fields)
	return fields
}

// validatedFields returns the fields of t whose values the validator looks into.
func validatedFields(t reflect.Type) []followed {
	var fields []followed
	for i := range t.NumField() {
		f := t.Field(i)
		rules := strings.Split(f.Tag.Get(tagName), ",")
		skipped := slices.ContainsFunc(rules, func(rule string) bool { return rule == "-" || rule == "structonly" || rule == "nostructlevel" })
		if !skipped && (f.IsExported() || f.Anonymous) {
			fields = append(fields, followed{index: i, dive: slices.Contains(rules, "dive")})
		}
	}
	return fields
}

// mayRecur reports whether a value of type t may contain another one of t, or any value. path holds the
// types that led to t.
func mayRecur(t reflect.Type, path []reflect.Type) bool {
	if slices.Contains(path, t) {
		return true
	}
	path = append(slices.Clip(path), t)
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return mayRecur(t.Elem(), path)
	case reflect.Struct:
		return !t.ConvertibleTo(timeType) && slices.ContainsFunc(validatedFields(t), func(f followed) bool {
			return mayRecur(t.Field(f.index).Type, path)
		})
	default:
		return false
	}
}

// exceeds reports whether v, at a depth, is nested deeper than maxNesting in what the validator looks into.
func exceeds(v reflect.Value, dive bool, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && exceeds(v.Elem(), dive, depth+1)
	case reflect.Struct:
		return slices.ContainsFunc(fieldsToFollow(v.Type()), func(f followed) bool {
			return exceeds(v.Field(f.index), f.dive, depth+1)
		})
	case reflect.Slice, reflect.Array, reflect.Map:
		return dive && elementExceeds(v, depth+1)
	default:
		return false
	}
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
