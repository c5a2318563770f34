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
	// maxNesting limits the nesting of a value in pointers, structs and elements. JSON
	// cannot exceed it: encoding/json stops at 10,000 levels, each of which adds at most
	// four. Therefore only a cyclic value exceeds it.
	maxNesting = 40_000

	// maxValues limits the number of values with rules in the lists and maps of a struct.
	// The validator does not stop early: it collects the failures of all values, and each
	// failure needs about 500 bytes.
	maxValues = 100_000

	// tooManyValues is the rule that a list fails if it exceeds maxValues.
	tooManyValues = "max_values"
)

// nestingError returns the error for a cyclic value, which would overflow the stack.
func nestingError(t reflect.Type) error {
	return &RuleError{
		Type: t,
		Problem: fmt.Sprintf("the value is cyclic, or nested more than %d levels deep",
			maxNesting),
	}
}

// valuesError returns the error for a value of type t that exceeds maxValues in the field
// at path.
func (e *engine) valuesError(ctx context.Context, t reflect.Type, path string) error {
	key := cmp.Or(t.Name(), "struct") + "." + path // the format of field names in the validator
	return e.validator.VarWithKeyCtx(ctx, key, nil, tooManyValues+"="+strconv.Itoa(maxValues))
}

// structRules summarizes the rules of a struct type that determine the work of the
// validator.
type structRules struct {
	values int // number of fields with rules
	nested []nestedField
}

// nestedField is a field of a struct that the validator visits.
type nestedField struct {
	index int
	dives int // levels of slices and maps with validated elements
}

var rulesOf jsonplan.Cache[reflect.Type, *structRules]

func findRules(t reflect.Type) *structRules {
	found := &structRules{}
	for f := range t.Fields() {
		tag := f.Tag.Get(tagName)
		if tag == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if tag != "" {
			found.values++
		}
		field := nestedField{index: f.Index[0]}
		opaque := false
		for rule := range strings.SplitSeq(tag, ",") {
			switch rule {
			case "dive":
				field.dives++
			case "structonly", "nostructlevel":
				opaque = true
			}
		}
		if !opaque && (field.dives > 0 || containsStructs(f.Type)) {
			found.nested = append(found.nested, field)
		}
	}
	return found
}

// containsStructs reports whether a value of the type may contain a struct.
func containsStructs(t reflect.Type) bool {
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

// survey counts the values that the validator will visit.
type survey struct {
	tooDeep bool   // a value is nested deeper than maxNesting; the walk stops
	values  int    // number of values with rules
	full    bool   // the values of a list exceed maxValues
	path    string // path of the outermost such list
}

// visit visits v, which is at the given depth, and dives levels of its elements.
func (s *survey) visit(v reflect.Value, dives, depth int) {
	s.tooDeep = s.tooDeep || depth > maxNesting
	if s.tooDeep {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		s.visit(v.Elem(), dives, depth+1)
	case reflect.Struct:
		s.visitFields(v, depth+1)
	case reflect.Slice, reflect.Array, reflect.Map:
		if dives > 0 {
			s.visitElements(v, dives-1, depth+1)
		}
	default:
	}
}

func (s *survey) visitFields(v reflect.Value, depth int) {
	rules := rulesOf.Get(v.Type(), findRules)
	s.values += rules.values
	for _, f := range rules.nested {
		wasFull := s.full
		s.visit(v.Field(f.index), f.dives, depth)
		if s.full && !wasFull {
			s.path = strings.Trim(fieldName(v.Type().Field(f.index))+"."+s.path, ".")
		}
	}
}

func (s *survey) visitElements(v reflect.Value, dives, depth int) {
	wasFull := s.full
	s.values += v.Len()
	switch {
	case dives == 0 && !containsStructs(v.Type()):
	case v.Kind() == reflect.Map:
		for entry := v.MapRange(); !s.tooDeep && entry.Next(); {
			s.visit(entry.Value(), dives, depth)
		}
	default:
		// with Seq2, s would escape and each index would be allocated
		for i := 0; i < v.Len() && !s.tooDeep; i++ {
			s.visit(v.Index(i), dives, depth)
		}
	}
	if s.values > maxValues && !wasFull {
		s.full, s.path = true, "" // the index of the last value is arbitrary
	}
}
