package xenv

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Load returns a T whose fields have the values of s, and defaults where s sets nothing. A nil Source sets nothing. A
// field is read if it has the tag env:
//
//	type settings struct {
//		Timezone string        `env:"DATABASE_TIMEZONE" default:"UTC" doc:"Time zone of the session."`
//		Timeout  time.Duration `env:"SHOP_TIMEOUT" default:"5s" min:"1ms" max:"1m" doc:"Time for an answer."`
//		Key      xenv.Secret   `env:"SHOP_KEY" required:"true" min:"32" doc:"Signs the tokens."`
//		Mode     string        `env:"SHOP_MODE" default:"fast" oneof:"fast safe" doc:"How orders are written."`
//	}
//
// Types are string, Secret, bool, integers, floats, time.Duration, []string (separated by commas) and whatever implements
// encoding.TextUnmarshaler; the fields of a struct without the tag are read too. min and max bound a number, a duration or
// the length of a text. unit is the duration that a plain number counts, such as 1ms. secret:"true" masks a value of
// another type than Secret.
//
// The error joins a Problem for each value that is not accepted and each required variable that is not set; the field then
// has its default. Load uses reflection: call it once, at the start.
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
			problems = append(problems, assign(dst, f.Default, f.Unit))
		}
		text, set := f.from(s)
		switch {
		case !set && f.Required && defaults:
			problems = append(problems, f.problem("", "is not set"))
		case !set:
		case f.Check(text) != nil:
			problems = append(problems, f.Check(text))
		case assign(dst, text, f.Unit) != nil:
			problems = append(problems, f.problem(text, "does not fit "+dst.Type().String()))
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
		} else if f.Type.Kind() == reflect.Struct && !f.Anonymous && f.IsExported() && f.Type.Name() != "" {
			for _, inner := range fieldsOf(f.Type) {
				fields = append(fields, field{inner.Var, append(append([]int{}, f.Index...), inner.index...)})
			}
		}
	}
	return fields
}

// variable returns the definition that the tags of a field make.
func variable(t reflect.Type, f reflect.StructField) Var {
	fault := func(problem string) string { return fmt.Sprintf("xenv: %v.%s %s", t, f.Name, problem) }
	tag := f.Tag
	v := Var{
		Key: EnvKey(tag.Get("env")), Default: tag.Get("default"), Meaning: tag.Get("doc"), Required: tag.Get("required") == "true",
		Packages: []string{t.PkgPath()},
		Secret:   tag.Get("secret") == "true" || f.Type == secretType, Values: strings.Fields(tag.Get("oneof")),
	}
	if v.Key == "" || !f.IsExported() {
		panic(fault("has no variable, or is not exported"))
	}
	v.Type = typeOf(f.Type)
	if v.Type == typeUnknown {
		panic(fault("has a type that no variable can have"))
	}
	if v.Type == TypeString && len(v.Values) > 0 {
		v.Type = TypeEnum
	}
	if reflect.PointerTo(f.Type).Implements(textType) {
		v.parse = func(text string) error { return assign(reflect.New(f.Type).Elem(), text, 0) }
	}
	var err error
	if unit := tag.Get("unit"); unit != "" {
		v.Unit, err = time.ParseDuration(unit)
	}
	if err = errors.Join(err, setRange(&v, tag.Get("min"), tag.Get("max"))); err != nil {
		panic(fault(err.Error()))
	}
	if v.Default != "" {
		if err := v.Check(v.Default); err != nil {
			panic(fault("has a default that it does not accept: " + err.Error()))
		}
	}
	return v
}

// setRange reads the tags min and max. One without the other leaves that side open.
func setRange(v *Var, least, most string) error {
	if least == "" && most == "" {
		return nil
	}
	v.Max = math.MaxInt64
	var problems []error
	for text, bound := range map[*string]*int64{&least: &v.Min, &most: &v.Max} {
		if *text == "" {
			continue
		}
		var err error
		if v.Type == TypeDuration {
			var d time.Duration
			d, err = time.ParseDuration(*text)
			*bound = int64(d)
		} else {
			*bound, err = strconv.ParseInt(*text, 10, 64)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// typeOf returns how the text of a field of type t is read.
func typeOf(t reflect.Type) Type {
	switch {
	case t == durationType:
		return TypeDuration
	case t == listType:
		return TypeList
	case t.Kind() == reflect.String || reflect.PointerTo(t).Implements(textType):
		return TypeString
	case t.Kind() == reflect.Bool:
		return TypeBool
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return TypeInt
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return TypeFloat
	default:
		return typeUnknown
	}
}

// assign sets a field to a text that its variable accepts.
func assign(dst reflect.Value, text string, unit time.Duration) error {
	if u, ok := reflect.TypeAssert[encoding.TextUnmarshaler](dst.Addr()); ok {
		return u.UnmarshalText([]byte(text))
	}
	ok := true
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(text)
	case reflect.Bool:
		var b bool
		b, ok = parseBool(text)
		dst.SetBool(b)
	case reflect.Float32, reflect.Float64:
		var f float64
		f, ok = parseFloat(text)
		dst.SetFloat(f)
	case reflect.Slice:
		list, _ := parseList(text)
		dst.Set(reflect.ValueOf(list))
	default:
		var n int64
		if dst.Type() == durationType {
			var d time.Duration
			d, ok = parseDuration(text, unit)
			n = int64(d)
		} else {
			n, ok = parseInt64(text)
		}
		return setInt(dst, n, ok, text)
	}
	if !ok {
		return fmt.Errorf("xenv: %q is no %s", text, dst.Type())
	}
	return nil
}

// setInt sets an integer, whose type may be too small for it.
func setInt(dst reflect.Value, n int64, ok bool, text string) error {
	switch {
	case ok && dst.CanInt() && !dst.OverflowInt(n):
		dst.SetInt(n)
	case ok && dst.CanUint() && n >= 0 && !dst.OverflowUint(uint64(n)):
		dst.SetUint(uint64(n))
	default:
		return fmt.Errorf("xenv: %q is no %s", text, dst.Type())
	}
	return nil
}
