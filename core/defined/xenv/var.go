package xenv

import (
	"fmt"
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
)

// String returns the type's name as the documentation writes it.
func (t Type) String() string {
	return [...]string{"string", "bool", "int", "float", "duration", "enum", "list"}[t]
}

// Var describes one environment variable.
type Var struct {
	Key     EnvKey
	Group   string
	Type    Type
	Default string        // in the form in which it would be set
	Meaning string        // one sentence for people
	Values  []string      // of an enum
	Min     int64         // of an int, or nanoseconds of a duration
	Max     int64         // as Min; the range is unchecked where Min and Max are both 0
	Unit    time.Duration // of a duration that is a plain number; 0: a plain number is refused
	Words   string        // what is accepted, where only the reader can check it
	Secret  bool          // the value never appears in a message
	Reader  string        // who reads it: a driver or an extension; "" is core
}

// Accepted says in words what the variable accepts; "" is any text.
func (v Var) Accepted() string {
	if v.Words != "" {
		return v.Words
	}
	switch v.Type {
	case TypeBool:
		return "true, false, yes, no, on, off, 1 or 0"
	case TypeInt:
		if v.ranged() {
			return fmt.Sprintf("%d to %d", v.Min, v.Max)
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

func (v Var) ranged() bool { return v.Min != 0 || v.Max != 0 }

// optional reports whether v is a row of the table that has no default, so that none means not set.
func (v Var) optional() bool { return v.Group != "" && v.Default == "" }

// Check returns the Problem of text, or nil.
func (v Var) Check(text string) error {
	problem := ""
	switch v.Type {
	case TypeBool:
		problem = explain(text, parseBool, "is not a boolean")
	case TypeInt:
		problem = v.checkInt(text)
	case TypeFloat:
		problem = explain(text, parseFloat, "is not a finite number")
	case TypeDuration:
		problem = v.checkDuration(text)
	case TypeEnum:
		if !slices.Contains(v.Values, text) {
			problem = "is not one of the values"
		}
	case TypeString, TypeList:
	}
	if problem == "" {
		return nil
	}
	return Problem(v.Key, text, problem, v.Accepted())
}

// explain returns problem where text does not parse.
func explain[T any](text string, parse func(string) (T, bool), problem string) string {
	if _, ok := parse(text); ok {
		return ""
	}
	return problem
}

func (v Var) checkInt(text string) string {
	n, ok := parseInt64(text)
	if !ok {
		return "is not an integer"
	}
	return v.checkRange(n)
}

func (v Var) checkDuration(text string) string {
	d, ok := parseDuration(text, v.Unit)
	if !ok {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "has no unit"
		}
		return "is not a duration"
	}
	return v.checkRange(int64(d))
}

func (v Var) checkRange(n int64) string {
	if v.ranged() && (n < v.Min || n > v.Max) {
		return "is out of range"
	}
	return ""
}

// Lookup returns the table's row of key; a key that Plinth does not know gives a Var of its name alone.
func Lookup(key EnvKey) Var {
	if i, ok := rows[key]; ok {
		return table[i]
	}
	return Var{Key: key}
}

// rows finds a variable in the table.
var rows = func() map[EnvKey]int {
	m := make(map[EnvKey]int, len(table))
	for i, v := range table {
		m[v.Key] = i
	}
	return m
}()
