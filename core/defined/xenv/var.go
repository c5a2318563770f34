package xenv

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
)

// Type says how a variable's text is read.
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

// types has the name of each type, as the documentation writes it, and what it accepts.
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
	Default  string        // in the form in which it would be set
	Meaning  string        // one sentence for people
	Values   []string      // of an enum
	Min      int64         // of an int, nanoseconds of a duration, or the length of a string
	Max      int64         // as Min; the range is unchecked if Min and Max are both 0
	Unit     time.Duration // of a duration that is a plain number; 0: a plain number is refused
	Required bool          // the program does not start without it
	Secret   bool          // the value never appears in a message
	Packages []string      // that have registered it, by import path

	goType reflect.Type // of the field that declares it; nil: no package has registered it
}

// sameAs reports whether another package may register v where other is registered.
func (v Var) sameAs(other Var) bool {
	v.Group, v.Packages, v.goType = other.Group, other.Packages, other.goType
	return reflect.DeepEqual(v, other)
}

// from returns the value of v in s, and whether it is set: none switches off a variable
// without a default.
func (v Var) from(s Source) (string, bool) {
	text, set := s.Lookup(v.Key.String())
	if !set || text == "" || text == none && v.optional() {
		return "", false
	}
	return text, true
}

// Accepted says in words what the variable accepts; "" is any text.
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

// span says in words which numbers are accepted.
func span(least, most int64) string {
	if most == math.MaxInt64 {
		return fmt.Sprintf("%d or more", least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func (v Var) ranged() bool { return v.Min != 0 || v.Max != 0 }

// optional reports whether none means not set: v is defined and has no default.
func (v Var) optional() bool { return v.goType != nil && v.Default == "" }

func (v Var) inRange(n int64) bool { return !v.ranged() || v.Min <= n && n <= v.Max }

// Check returns the Problem of text, or nil. A variable that no package has registered is
// any text.
func (v Var) Check(text string) error {
	if v.goType == nil {
		return nil
	}
	return v.assign(reflect.New(v.goType).Elem(), text)
}
