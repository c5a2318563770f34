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
	// maxNesting bounds how deep a value may be nested, in pointers, structs and
	// elements. It is more than JSON can reach: encoding/json stops at 10,000 levels,
	// each of which is at most four of these. So only a value that contains itself
	// exceeds it.
	maxNesting = 40_000

	// maxValues bounds the values with rules in the lists and maps of a struct. The
	// validator cannot be stopped: it collects the failures of all of them, about 500
	// bytes each.
	maxValues = 100_000

	// tooManyValues is the rule that a list fails at which maxValues is exceeded.
	tooManyValues = "max_values"
)

// nestingError is the error for a value that contains itself, which would overflow the
// stack.
func nestingError(t reflect.Type) error {
	return &RuleError{
		Type: t,
		Problem: fmt.Sprintf("the value contains itself, or is nested more than %d levels deep",
			maxNesting),
	}
}

// valuesError is the error for a value of type t that exceeds maxValues in the field at a
// path.
func (e *engine) valuesError(ctx context.Context, t reflect.Type, path string) error {
	key := cmp.Or(t.Name(), "struct") + "." + path // as the validator names fields
	return e.validator.VarWithKeyCtx(ctx, key, nil, tooManyValues+"="+strconv.Itoa(maxValues))
}

// structRules are the rules of a struct type, as far as they decide how much the
// validator does.
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
	tooDeep bool   // a value is nested deeper than maxNesting, which ends the walk
	values  int    // with rules
	full    bool   // the values of a list exceed maxValues
	path    string // to the outermost such list
}

// visit looks at v, at a depth. The validator looks into as many levels of elements as
// dives says.
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
	default: // nothing is nested in it
	}
}

func (s *survey) visitFields(v reflect.Value, depth int) {
	rules := rulesOf.Get(v.Type(), findRules)
	s.values += rules.values
	for _, f := range rules.nested {
		before := s.full
		s.visit(v.Field(f.index), f.dives, depth)
		if s.full && !before {
			s.path = strings.Trim(fieldName(v.Type().Field(f.index))+"."+s.path, ".")
		}
	}
}

func (s *survey) visitElements(v reflect.Value, dives, depth int) {
	before := s.full
	s.values += v.Len()
	switch {
	case dives == 0 && !holdsStructs(v.Type()):
	case v.Kind() == reflect.Map:
		for entry := v.MapRange(); !s.tooDeep && entry.Next(); {
			s.visit(entry.Value(), dives, depth)
		}
	default:
		// Seq2 would let s escape, and allocate each index
		for i := 0; i < v.Len() && !s.tooDeep; i++ {
			s.visit(v.Index(i), dives, depth)
		}
	}
	if s.values > maxValues && !before {
		s.full, s.path = true, "" // which element has the last value is chance
	}
}
