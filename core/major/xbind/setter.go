package xbind

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin/binding"
)

// setter sets a field to the values of a parameter. A nil list means that the request
// does not contain the parameter.
type setter func(field reflect.Value, values []string) error

// textSetter sets a field to a value of a parameter.
type textSetter func(field reflect.Value, text string) error

var (
	unmarshalerType = reflect.TypeFor[binding.BindUnmarshaler]()
	durationType    = reflect.TypeFor[time.Duration]()
	timeType        = reflect.TypeFor[time.Time]()
)

// addSetter sets the setter of the parameter, which follows the rules of gin for the tag.
// It returns false if a parameter cannot have the type.
func (p *Param) addSetter(tag string) bool {
	if !isParameter(p.Field.Type, p.Field.Tag.Get(tag)) {
		return false
	}
	_, options, found := strings.Cut(p.Field.Tag.Get(tag), ",")
	p.hasDefault = strings.Contains(options, "default=")
	if !found {
		p.setText = quickSetter(p.Field.Type)
	}
	p.set = ginSetter(p.Field, tag)
	return true
}

// isParameter reports whether gin can convert text to the type without JSON.
func isParameter(t reflect.Type, tag string) bool {
	t = indirect(t)
	if reflect.PointerTo(t).Implements(unmarshalerType) || t == timeType ||
		strings.Contains(tag, "parser=") {
		return true
	}
	if k := t.Kind(); k == reflect.Slice || k == reflect.Array {
		t = indirect(t.Elem())
		return reflect.PointerTo(t).Implements(unmarshalerType) || t == timeType || isScalar(t)
	}
	return isScalar(t)
}

func isScalar(t reflect.Type) bool {
	k := t.Kind()
	return k == reflect.Bool || k >= reflect.Int && k <= reflect.Uint64 || k == reflect.Float32 ||
		k == reflect.Float64 || k == reflect.String
}

// quickSetter returns a setter without allocations for the most frequent types, or nil.
// It has the same results as gin (TestQuickSetter).
func quickSetter(t reflect.Type) textSetter {
	switch {
	case reflect.PointerTo(t).Implements(unmarshalerType):
		return func(field reflect.Value, text string) error {
			u, _ := reflect.TypeAssert[binding.BindUnmarshaler](field.Addr())
			return u.UnmarshalParam(text)
		}
	case t == durationType:
		return nil
	case t.Kind() == reflect.String:
		return func(field reflect.Value, text string) error {
			field.SetString(text)
			return nil
		}
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return setInt
	default:
		return nil
	}
}

func setInt(field reflect.Value, text string) error {
	text = strings.TrimSpace(text)
	if text == "" {
		text = "0"
	}
	n, err := strconv.ParseInt(text, 10, field.Type().Bits())
	if err == nil {
		field.SetInt(n)
	}
	return err
}

// ginSetter returns a setter that calls gin with a struct that contains only the field.
// Thus, gin does not see the other fields, which it would fill by their Go names.
func ginSetter(f reflect.StructField, tag string) setter {
	single := reflect.StructOf([]reflect.StructField{{Name: f.Name, Type: f.Type, Tag: f.Tag}})
	name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
	return func(field reflect.Value, values []string) error {
		source := map[string][]string{}
		if values != nil {
			source[name] = values
		}
		v := reflect.New(single)
		v.Elem().Field(0).Set(field)
		if err := binding.MapFormWithTag(v.Interface(), source, tag); err != nil {
			return err
		}
		field.Set(v.Elem().Field(0))
		return nil
	}
}
