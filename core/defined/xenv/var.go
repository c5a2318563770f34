package xenv

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
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

	typeUnknown
)

// String returns the type's name as the documentation writes it.
func (t Type) String() string {
	return [...]string{"string", "bool", "int", "float", "duration", "enum", "list"}[t]
}

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

	parse func(text string) error // of a type that reads itself
}

// sameAs reports whether another package may register v where other is registered.
func (v Var) sameAs(other Var) bool {
	v.Group, v.Packages, v.parse, other.parse = other.Group, other.Packages, nil, nil // functions are never equal
	return reflect.DeepEqual(v, other)
}

// from returns the value of v in s, and whether it is set: none switches off a variable without a default.
func (v Var) from(s Source) (string, bool) {
	text, set := s.Lookup(v.Key.String())
	if !set || text == "" || text == none && v.optional() {
		return "", false
	}
	return text, true
}

// Accepted says in words what the variable accepts; "" is any text.
func (v Var) Accepted() string {
	switch v.Type {
	case TypeBool:
		return "true, false, yes, no, on, off, 1 or 0"
	case TypeInt:
		if v.ranged() {
			return span(v.Min, v.Max)
		}
		return "an integer"
	case TypeFloat:
		return "a number"
	case TypeDuration:
		return v.acceptedDuration()
	case TypeEnum:
		return strings.Join(v.Values, ", ")
	case TypeList:
		return "values separated by commas"
	case TypeString:
		if v.ranged() {
			return span(v.Min, v.Max) + " bytes"
		}
	case typeUnknown:
	}
	return ""
}

func (v Var) acceptedDuration() string {
	text := "a duration such as 500ms, 5s or 1m30s"
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
func (v Var) optional() bool { return len(v.Packages) > 0 && v.Default == "" }

// Check returns the Problem of text, or nil.
func (v Var) Check(text string) error {
	if _, problem := v.read(text); problem != "" {
		return v.problem(text, problem)
	}
	return nil
}

// read returns the value of a text, and what is wrong with it. That of an integer is an int64.
func (v Var) read(text string) (value any, problem string) {
	switch v.Type {
	case TypeBool:
		b, ok := parseBool(text)
		return b, unless(ok, "is not a boolean")
	case TypeInt:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return n, "is not an integer"
		}
		return n, unless(v.inRange(n), "is out of range")
	case TypeFloat:
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		return f, unless(err == nil && !math.IsNaN(f) && !math.IsInf(f, 0), "is not a finite number")
	case TypeDuration:
		return v.readDuration(text)
	case TypeEnum:
		return text, unless(slices.Contains(v.Values, text), "is not one of the values")
	case TypeList:
		return parseList(text), ""
	default:
		return text, v.checkText(text)
	}
}

// unless returns problem if ok is false.
func unless(ok bool, problem string) string {
	if ok {
		return ""
	}
	return problem
}

func (v Var) checkText(text string) string {
	if !v.inRange(int64(len(text))) {
		return fmt.Sprintf("has %d bytes", len(text))
	}
	if v.parse != nil {
		if err := v.parse(text); err != nil {
			return "is not accepted: " + err.Error()
		}
	}
	return ""
}

func (v Var) readDuration(text string) (d time.Duration, problem string) {
	d, ok := parseDuration(text, v.Unit)
	if !ok {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return d, "has no unit"
		}
		return d, "is not a duration"
	}
	return d, unless(v.inRange(int64(d)), "is out of range")
}

func (v Var) inRange(n int64) bool { return !v.ranged() || v.Min <= n && n <= v.Max }
