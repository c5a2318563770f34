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

// Load returns a T whose fields have the values of s, and defaults where s sets nothing.
// A nil Source sets nothing. A field is read if it has the tag env:
//
//	type settings struct {
//		Timezone string        `env:"DATABASE_TIMEZONE" default:"UTC" doc:"Time zone of the session."`
//		Timeout  time.Duration `env:"SHOP_TIMEOUT" default:"5s" min:"1ms" max:"1m" doc:"Time for an answer."`
//		Key      xenv.Secret   `env:"SHOP_KEY" required:"true" min:"32" doc:"Signs the tokens."`
//		Mode     string        `env:"SHOP_MODE" default:"fast" oneof:"fast safe" doc:"How orders are written."`
//	}
//
// Types are string, Secret, bool, integers, floats, time.Duration, []string (separated by
// commas) and whatever implements encoding.TextUnmarshaler; the fields of a struct
// without the tag are read too. min and max bound a number, a duration or the length of a
// text. unit is the duration that a plain number counts, such as 1ms. secret:"true" masks
// a value of another type than Secret.
//
// The error joins a Problem for each value that is not accepted and each required
// variable that is not set; the field then has its default. Load uses reflection: call it
// once, at the start.
func Load[T any](s Source) (T, error) {
	var into T
	err := fill(s, reflect.ValueOf(&into).Elem(), true)
	return into, err
}

// Fill is Load into an existing value: fields whose variable is not set keep theirs.
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

// field is a field of a struct with the variable that it is read from.
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

// fieldsOf returns the fields of a struct that have a variable.
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

// variable returns the definition that the tags of a field make.
func variable(t reflect.Type, f reflect.StructField) Var {
	fault := func(problem string) string {
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
		panic(fault("has no variable, or is not exported"))
	}
	var ok bool
	if v.Type, ok = typeOf(f.Type); !ok {
		panic(fault("has a type that no variable can have"))
	}
	if v.Type == TypeString && len(v.Values) > 0 {
		v.Type = TypeEnum
	}
	if err := setNumbers(&v, tag); err != nil {
		panic(fault(err.Error()))
	}
	if v.Default != "" {
		if err := v.Check(v.Default); err != nil {
			panic(fault("has a default that it does not accept: " + err.Error()))
		}
	}
	return v
}

// setNumbers reads the tags unit, min and max into v. One bound without the other leaves
// that side open.
func setNumbers(v *Var, tag reflect.StructTag) error {
	least, most := tag.Get("min"), tag.Get("max")
	if least != "" || most != "" {
		v.Max = math.MaxInt64
	}
	return errors.Join(
		number(&v.Unit, tag.Get("unit"), TypeDuration), number(&v.Min, least, v.Type),
		number(&v.Max, most, v.Type),
	)
}

// number sets n to a text that is not empty: a duration, or an integer for every other
// type.
func number[N ~int64](n *N, text string, t Type) error {
	if text == "" {
		return nil
	}
	if t != TypeDuration {
		t = TypeInt
	}
	return Var{Type: t}.assign(reflect.ValueOf(n).Elem(), text)
}

// typeOf returns how the text of a field of type t is read, and whether a variable can
// have that type.
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
