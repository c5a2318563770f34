package xenv

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Type is the type of a variable.
type Type uint8

// The types of variables.
const (
	// TypeString is any text.
	TypeString Type = iota
	// TypeBool is true or false, 1 or 0, yes or no, on or off.
	TypeBool
	// TypeInt is a decimal integer.
	TypeInt
	// TypeFloat is a finite decimal number.
	TypeFloat
	// TypeDuration is a Go duration such as 1m30s.
	TypeDuration
	// TypeEnum is one of Var.Values.
	TypeEnum
	// TypeList is a comma-separated list.
	TypeList
)

// types contains the name and the accepted values of each type.
var types = [...]struct{ name, accepted string }{
	TypeString:   {name: "string"},
	TypeBool:     {name: "bool", accepted: "true, false, yes, no, on, off, 1 or 0"},
	TypeInt:      {name: "int", accepted: "an integer"},
	TypeFloat:    {name: "float", accepted: "a number"},
	TypeDuration: {name: "duration", accepted: "a duration such as 500ms, 5s or 1m30s"},
	TypeEnum:     {name: "enum"},
	TypeList:     {name: "list", accepted: "values separated by commas"},
}

// String returns the type's name.
func (t Type) String() string { return types[t].name }

// Var is the definition of an environment variable.
type Var struct {
	Key      EnvKey
	Group    string
	Type     Type
	Default  string        // as written in the environment
	Meaning  string        // one sentence of documentation
	Values   []string      // values of an enum
	Min      int64         // minimum of an integer, of nanoseconds, or of the length of a string
	Max      int64         // maximum, like Min; no limit if Min and Max are 0
	Unit     time.Duration // unit of a plain number; 0 rejects plain numbers
	Required bool          // the program does not start without the variable
	Secret   bool          // the value is masked
	Packages []string      // import paths of the packages that registered it

	goType reflect.Type // type of the field; nil if the variable is not registered
}

// sameAs reports whether v and other have the same definition, regardless of their
// packages.
func (v Var) sameAs(other Var) bool {
	v.Group, v.Packages, v.goType = other.Group, other.Packages, other.goType
	return reflect.DeepEqual(v, other)
}

// from returns the value of v in s and whether it is set. The value "none" counts as not
// set if v has no default.
func (v Var) from(s Source) (string, bool) {
	text, set := s.Lookup(v.Key.String())
	if !set || text == "" || text == none && v.optional() {
		return "", false
	}
	return text, true
}

// Accepted describes the accepted values. It returns "" if the variable accepts any
// string.
func (v Var) Accepted() string {
	switch {
	case v.Type == TypeEnum:
		return strings.Join(v.Values, ", ")
	case v.Type == TypeDuration:
		return v.acceptedDuration()
	case v.Type == TypeInt && v.ranged():
		return span(v.Min, v.Max)
	case v.Type == TypeString && v.ranged():
		return span(v.Min, v.Max) + " bytes"
	default:
		return types[v.Type].accepted
	}
}

func (v Var) acceptedDuration() string {
	text := types[TypeDuration].accepted
	if v.Unit != 0 {
		text += ", or a plain number of " + map[time.Duration]string{
			time.Millisecond: "milliseconds", time.Second: "seconds",
		}[v.Unit]
	}
	if v.ranged() {
		text += fmt.Sprintf(", %s to %s", time.Duration(v.Min), time.Duration(v.Max))
	}
	return text
}

func span(lower, upper int64) string {
	if upper == math.MaxInt64 {
		return fmt.Sprintf("%d or more", lower)
	}
	return fmt.Sprintf("%d to %d", lower, upper)
}

func (v Var) ranged() bool { return v.Min != 0 || v.Max != 0 }

// optional reports whether v is registered without a default. The value "none" of an
// optional variable means not set.
func (v Var) optional() bool { return v.goType != nil && v.Default == "" }

func (v Var) inRange(n int64) bool { return !v.ranged() || v.Min <= n && n <= v.Max }

// Check returns a Problem if text is invalid, or nil. A variable that no package
// registered accepts any text.
func (v Var) Check(text string) error {
	if v.goType == nil {
		return nil
	}
	return v.assign(reflect.New(v.goType).Elem(), text)
}
