package xenv

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Load returns a T whose fields have the values of s. Fields that s does not set have
// their defaults. A nil Source is empty. Load reads the fields that have the tag env:
//
//	type settings struct {
//		Timezone string        `env:"DATABASE_TIMEZONE" default:"UTC" doc:"Time zone of the session."`
//		Timeout  time.Duration `env:"SHOP_TIMEOUT" default:"5s" min:"1ms" max:"1m" doc:"Timeout of a request."`
//		Key      xenv.Secret   `env:"SHOP_KEY" required:"true" min:"32" doc:"Key that signs the tokens."`
//		Mode     string        `env:"SHOP_MODE" default:"fast" oneof:"fast safe" doc:"How orders are written."`
//	}
//
// The supported types are string, Secret, bool, integers, floats, time.Duration, []string
// (comma-separated) and implementations of encoding.TextUnmarshaler. Load also reads the
// fields of nested structs without the tag. The tags min and max limit an integer, a
// duration or the length of a string; with max alone, the minimum is 0. The tag unit,
// such as 1ms, is the unit of a duration that is a plain number. The tag secret:"true"
// masks a value whose type is not Secret.
//
// The error joins a Problem for each invalid value and for each required variable that is
// not set; these fields have their defaults. Load uses reflection: call it once, at
// startup.
func Load[T any](s Source) (T, error) {
	var into T
	err := fill(s, reflect.ValueOf(&into).Elem(), true)
	return into, err
}

// Fill is like Load but sets the fields of an existing value. Fields whose variable is
// not set are unchanged.
func Fill[T any](s Source, into *T) error {
	return fill(s, reflect.ValueOf(into).Elem(), false)
}

func fill(s Source, into reflect.Value, defaults bool) error {
	if s == nil {
		s = Map(nil)
	}
	var problems []error
	for _, f := range fieldsOf(into.Type()) {
		dst := into.FieldByIndex(f.index)
		if defaults && f.Default != "" {
			problems = append(problems, f.assign(dst, f.Default))
		}
		if text, set := f.from(s); set {
			problems = append(problems, f.assign(dst, text))
		} else if f.Required && defaults {
			problems = append(problems, f.problem("", "is not set"))
		}
	}
	return errors.Join(problems...)
}

type field struct {
	Var

	index []int
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	secretType   = reflect.TypeFor[Secret]()
	listType     = reflect.TypeFor[[]string]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// fieldsOf returns the fields of t that have a variable. It panics if t is not a named
// struct.
func fieldsOf(t reflect.Type) []field {
	if t.Kind() != reflect.Struct || t.Name() == "" {
		panic(fmt.Sprintf("xenv: %v is not a named struct", t))
	}
	var fields []field
	for _, f := range reflect.VisibleFields(t) {
		if _, ok := f.Tag.Lookup("env"); ok {
			fields = append(fields, field{variable(t, f), f.Index})
		} else if f.Type.Kind() == reflect.Struct && !f.Anonymous && f.IsExported() &&
			f.Type.Name() != "" {
			for _, inner := range fieldsOf(f.Type) {
				fields = append(fields,
					field{inner.Var, append(append([]int{}, f.Index...), inner.index...)})
			}
		}
	}
	return fields
}

// variable returns the definition in the tags of a field. It panics if the tags are
// invalid.
func variable(t reflect.Type, f reflect.StructField) Var {
	message := func(problem string) string {
		return fmt.Sprintf("xenv: %v.%s %s", t, f.Name, problem)
	}
	tag := f.Tag
	v := Var{
		Key: EnvKey(tag.Get("env")), Default: tag.Get("default"), Meaning: tag.Get("doc"),
		Required: tag.Get("required") == "true",
		Secret:   tag.Get("secret") == "true" || f.Type == secretType,
		Values:   strings.Fields(tag.Get("oneof")), goType: f.Type,
	}
	if v.Key == "" || !f.IsExported() {
		panic(message("has no variable or is not exported"))
	}
	var ok bool
	if v.Type, ok = typeOf(f.Type); !ok {
		panic(message("has an unsupported type"))
	}
	if v.Type == TypeString && len(v.Values) > 0 {
		v.Type = TypeEnum
	}
	if err := setNumbers(&v, tag); err != nil {
		panic(message(err.Error()))
	}
	if v.Default != "" {
		if err := v.Check(v.Default); err != nil {
			panic(message("has an invalid default: " + err.Error()))
		}
	}
	return v
}

// setNumbers parses the tags unit, min and max into v. If only min is set, there is no
// maximum. If only max is set, the minimum is 0.
func setNumbers(v *Var, tag reflect.StructTag) error {
	lower, upper := tag.Get("min"), tag.Get("max")
	if lower != "" || upper != "" {
		v.Max = math.MaxInt64
	}
	return errors.Join(
		number(&v.Unit, tag.Get("unit"), TypeDuration), number(&v.Min, lower, v.Type),
		number(&v.Max, upper, v.Type),
	)
}

// number parses text into n, unless text is empty. The text is a duration if t is
// TypeDuration, and an integer otherwise.
func number[N ~int64](n *N, text string, t Type) error {
	if text == "" {
		return nil
	}
	if t != TypeDuration {
		t = TypeInt
	}
	return Var{Type: t}.assign(reflect.ValueOf(n).Elem(), text)
}

// typeOf returns the Type of a variable whose field has type t, and whether t is
// supported.
func typeOf(t reflect.Type) (_ Type, ok bool) {
	switch {
	case t == durationType:
		return TypeDuration, true
	case t == listType:
		return TypeList, true
	case t.Kind() == reflect.String || reflect.PointerTo(t).Implements(textType):
		return TypeString, true
	case t.Kind() == reflect.Bool:
		return TypeBool, true
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return TypeInt, true
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return TypeFloat, true
	default:
		return 0, false
	}
}
