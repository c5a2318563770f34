package xvalid

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/plinthgo/plinth/core/internal/jsonplan"
)

const (
	// maxNesting bounds how deep a value may be nested, in pointers, structs and elements. It is more than
	// JSON can reach: encoding/json stops at 10,000 levels, each of which is at most four of these. So
	// only a value that contains itself exceeds it.
	maxNesting = 40_000

	// maxValues bounds the values with rules in the lists and maps of a struct. The validator cannot be
	// stopped: it collects the failures of all of them, about 500 bytes each.
	maxValues = 100_000

	// tooManyValues is the rule that a list fails at which maxValues is exceeded.
	tooManyValues = "max_values"
)

// nestingError is the error for a value that contains itself, which would overflow the stack.
func nestingError(t reflect.Type) error {
	return &RuleError{Type: t, Problem: fmt.Sprintf("the value contains itself, or is nested more than %d levels deep", maxNesting)}
}

// valuesError is the error for a value of type t that exceeds maxValues in the field at a path.
func (e *engine) valuesError(ctx context.Context, t reflect.Type, path string) error {
	key := cmp.Or(t.Name(), "struct") + "." + path // as the validator names fields
	return e.validator.VarWithKeyCtx(ctx, key, nil, tooManyValues+"="+strconv.Itoa(maxValues))
}

// structRules are the rules of a struct type, as far as they decide how much the validator does.
type structRules struct {
	values int // fields with rules
	nested []nestedField
}

// nestedField is a field of a struct into which the validator looks.
type nestedField struct {
	index int
	dives int // levels of slices and maps whose elements are validated
}

// rulesOf contains the rules of each struct type that was validated.
var rulesOf jsonplan.Cache[reflect.Type, *structRules]

// findRules returns the rules of a struct type.
func findRules(t reflect.Type) *structRules {
	found := &structRules{}
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get(tagName)
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if tag != "" {
			found.values++
		}
		field := nestedField{index: i}
		opaque := false
		for rule := range strings.SplitSeq(tag, ",") {
			switch rule {
			case "dive":
				field.dives++
			case "structonly", "nostructlevel":
				opaque = true
			}
		}
		if !opaque && (field.dives > 0 || holdsStructs(f.Type)) {
			found.nested = append(found.nested, field)
		}
	}
	return found
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

// survey walks over what the validator will look into, before the validator does.
type survey struct {
	values int    // with rules
	full   bool   // the values of a list exceed maxValues
	path   string // to the outermost such list
}

// tooDeep visits v, at a depth, and reports whether v is nested deeper than maxNesting. The validator
// looks into as many levels of elements as dives says.
func (s *survey) tooDeep(v reflect.Value, dives, depth int) bool {
	if depth > maxNesting {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && s.tooDeep(v.Elem(), dives, depth+1)
	case reflect.Struct:
		return s.fieldTooDeep(v, depth+1)
	case reflect.Slice, reflect.Array, reflect.Map:
		return dives > 0 && s.elementTooDeep(v, dives-1, depth+1)
	default:
		return false
	}
}

// fieldTooDeep is tooDeep for the fields of a struct.
func (s *survey) fieldTooDeep(v reflect.Value, depth int) bool {
	rules := rulesOf.Get(v.Type(), findRules)
	s.values += rules.values
	for _, f := range rules.nested {
		before := s.full
		if s.tooDeep(v.Field(f.index), f.dives, depth) {
			return true
		}
		if s.full && !before {
			s.path = strings.Trim(fieldName(v.Type().Field(f.index))+"."+s.path, ".")
		}
	}
	return false
}

// elementTooDeep is tooDeep for the elements of a slice or a map.
func (s *survey) elementTooDeep(v reflect.Value, dives, depth int) bool {
	before := s.full
	s.values += v.Len()
	if (dives > 0 || holdsStructs(v.Type())) && s.anyTooDeep(v, dives, depth) {
		return true
	}
	if s.values > maxValues && !before {
		s.full, s.path = true, "" // which element has the last value is chance
	}
	return false
}

// anyTooDeep reports whether tooDeep is true for an element of a slice or a map.
func (s *survey) anyTooDeep(v reflect.Value, dives, depth int) bool {
	if v.Kind() == reflect.Map {
		for entry := v.MapRange(); entry.Next(); {
			if s.tooDeep(entry.Value(), dives, depth) {
				return true
			}
		}
		return false
	}
	for i := range v.Len() { // Seq2 would let s escape, and allocate each index
		if s.tooDeep(v.Index(i), dives, depth) {
			return true
		}
	}
	return false
}
