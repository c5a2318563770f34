// Package xenv names every environment variable that Plinth reads, and reads them.
//
// One table holds each variable's name, type, default, meaning and range; the readers, the check at
// start, .env.example and the documentation are all made from it. An empty value counts as not set:
// it overrides neither .env nor a default. The value none overrides .env and counts as not set, for
// each variable of the table that has no default.
//
// The functions may be called from any goroutine; SetEnv and Apply change the process's environment
// and belong to the start of a program.
package xenv

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// EnvKey is the name of an environment variable.
type EnvKey string

// String returns the variable's name.
func (k EnvKey) String() string { return string(k) }

// none is the value that switches off what .env or the code sets.
const none = "none"

// GetEnv returns the variable's value and whether it is set. An empty value counts as not set, and so
// does none if the table has the variable without a default.
func GetEnv(key EnvKey) (string, bool) {
	v := os.Getenv(string(key))
	if v == none && Lookup(key).optional() {
		return "", false
	}
	return v, v != ""
}

// SetEnv sets the variable for this process and those that it starts.
func SetEnv(key EnvKey, value string) error {
	if err := os.Setenv(string(key), value); err != nil {
		return fmt.Errorf("xenv: set %q: %w", key, err)
	}
	return nil
}

// Apply sets the variables of a .env file that the real environment does not set. An empty value
// counts as not set on both sides.
func Apply(file map[string]string) error {
	var problems []error
	for name, value := range file {
		if value == "" || os.Getenv(name) != "" {
			continue
		}
		problems = append(problems, SetEnv(EnvKey(name), value))
	}
	return errors.Join(problems...)
}

// GetEnvString returns the variable's value, or def where it is not set.
func GetEnvString(key EnvKey, def string) string { return read(key, def, parseString) }

// GetEnvBool returns the variable's value, or def where it is not set or no boolean.
func GetEnvBool(key EnvKey, def bool) bool { return read(key, def, parseBool) }

// GetEnvInt returns the variable's value, or def where it is not set or no integer.
func GetEnvInt(key EnvKey, def int) int { return read(key, def, parseInt) }

// GetEnvInt64 returns the variable's value, or def where it is not set or no integer.
func GetEnvInt64(key EnvKey, def int64) int64 { return read(key, def, parseInt64) }

// GetEnvFloat returns the variable's value, or def where it is not set or no finite number.
func GetEnvFloat(key EnvKey, def float64) float64 { return read(key, def, parseFloat) }

// GetEnvDuration returns the variable's value, or def where it is not set or no duration. A number
// without a unit counts in the variable's own unit, where the table gives one.
func GetEnvDuration(key EnvKey, def time.Duration) time.Duration {
	return read(key, def, func(s string) (time.Duration, bool) { return parseDuration(s, Lookup(key).Unit) })
}

// GetEnvList returns the variable's comma-separated values without surrounding space or empty ones,
// or def where it is not set.
func GetEnvList(key EnvKey, def ...string) []string { return read(key, def, parseList) }

// read returns the parsed value of key, or def.
func read[T any](key EnvKey, def T, parse func(string) (T, bool)) T {
	text, set := GetEnv(key)
	if !set {
		return def
	}
	if v, ok := parse(text); ok {
		return v
	}
	return def
}

// String returns the variable's value, or the table's default. What is none of an enum's values is not taken.
func String(key EnvKey) string {
	v := Lookup(key)
	return read(key, v.Default, func(text string) (string, bool) {
		return text, v.Type != TypeEnum || v.Check(text) == nil
	})
}

// Bool returns the variable's value, or the table's default.
func Bool(key EnvKey) bool { return tabled(key, parseBool) }

// Int returns the variable's value, or the table's default.
func Int(key EnvKey) int { return tabled(key, parseInt) }

// Int64 returns the variable's value, or the table's default.
func Int64(key EnvKey) int64 { return tabled(key, parseInt64) }

// Float returns the variable's value, or the table's default.
func Float(key EnvKey) float64 { return tabled(key, parseFloat) }

// Duration returns the variable's value, or the table's default.
func Duration(key EnvKey) time.Duration {
	return tabled(key, func(s string) (time.Duration, bool) { return parseDuration(s, Lookup(key).Unit) })
}

// List returns the variable's values, or the table's default.
func List(key EnvKey) []string { return tabled(key, parseList) }

// tabled returns the parsed value of key, or what the table gives for it; the zero value where the
// table gives nothing. A value that is out of the table's range, which Validate reports, is not taken,
// so that nobody reports it a second time.
func tabled[T any](key EnvKey, parse func(string) (T, bool)) T {
	v := Lookup(key)
	def, _ := parse(v.Default)
	return read(key, def, func(text string) (T, bool) {
		value, ok := parse(text)
		return value, ok && (!v.ranged() || v.Check(text) == nil)
	})
}

// Validate checks every variable of the table that is set. The error joins one Problem for each that
// does not hold, in the table's order.
func Validate() error {
	var problems []error
	for _, v := range table {
		if text, set := GetEnv(v.Key); set {
			problems = append(problems, v.Check(text))
		}
	}
	return errors.Join(problems...)
}

// Problem is the one line that says what is wrong with a variable, such as
//
//	PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)
//
// The value of a secret variable is left out, and credentials in any other are redacted.
func Problem(key EnvKey, value, problem, accepted string) error {
	shown := fmt.Sprintf("%q ", shorten(Redact(value)))
	if Lookup(key).Secret {
		shown = "the value "
	}
	if value == "" {
		shown = ""
	}
	if accepted != "" {
		accepted = " (accepted: " + accepted + ")"
	}
	return fmt.Errorf("%s: %s%s%s", key, shown, problem, accepted) //nolint:err113 // the text is for people
}

// shorten keeps a wrong value from filling the screen.
func shorten(s string) string {
	const most = 64
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// Example writes the table as a .env file: every variable commented out, with its meaning above.
func Example() string {
	var b strings.Builder
	group := ""
	for _, v := range table {
		if v.Group != group {
			group = v.Group
			fmt.Fprintf(&b, "\n## %s\n", group)
		}
		fmt.Fprintf(&b, "\n# %s\n", v.Meaning)
		if a := v.Accepted(); a != "" {
			fmt.Fprintf(&b, "# Accepted: %s.\n", a)
		}
		fmt.Fprintf(&b, "# %s=%s\n", v.Key, v.Default)
	}
	return "# Every variable that Plinth reads, with its default. Copy the lines that you change into .env.\n" +
		"# The real environment always wins over the file.\n" + b.String()
}

// Table returns every variable, grouped, in the order of the documentation.
func Table() []Var { return slices.Clone(table) }
