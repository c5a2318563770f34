// Package xenv reads configuration from the environment.
//
// A package declares its variables as a struct and registers them:
//
//	func init() { xenv.Register[settings]("Orders") }
//
//	own, err := xenv.Load[settings](xenv.Environment())
//
// The registry has the variables of every package that a program links. The check at the
// start, .env.example, the documentation and the command line all read it. An empty value
// counts as not set: it overrides neither .env nor a default. The value none overrides
// .env and counts as not set, for each registered variable without a default.
//
// The functions may be called from any goroutine; SetEnv and Apply change the process's
// environment and belong to the start of a program.
package xenv

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"
	"unicode/utf8"
)

// EnvKey is the name of an environment variable.
type EnvKey string

// String returns the variable's name.
func (k EnvKey) String() string { return string(k) }

// none is the value that switches off what .env or the code sets.
const none = "none"

// GetEnv returns the variable's value and whether it is set. An empty value counts as not
// set, and so does none if the variable is registered without a default.
func GetEnv(key EnvKey) (string, bool) { return Lookup(key).from(Environment()) }

// SetEnv sets the variable for this process and those that it starts.
func SetEnv(key EnvKey, value string) error {
	if err := os.Setenv(string(key), value); err != nil {
		return fmt.Errorf("xenv: set %q: %w", key, err)
	}
	return nil
}

// Apply sets the variables of a .env file that the real environment does not set. An
// empty value counts as not set on both sides.
func Apply[K ~string](file map[K]string) error {
	var problems []error
	for name, value := range file {
		if value == "" || os.Getenv(string(name)) != "" {
			continue
		}
		problems = append(problems, SetEnv(EnvKey(name), value))
	}
	return errors.Join(problems...)
}

// GetEnvString returns the variable's value, or def where it is not set.
func GetEnvString(key EnvKey, def string) string { return read(key, def) }

// GetEnvBool returns the variable's value, or def where it is not set or no boolean.
func GetEnvBool(key EnvKey, def bool) bool { return read(key, def) }

// GetEnvInt returns the variable's value, or def where it is not set or no integer.
func GetEnvInt(key EnvKey, def int) int { return read(key, def) }

// GetEnvInt64 returns the variable's value, or def where it is not set or no integer.
func GetEnvInt64(key EnvKey, def int64) int64 { return read(key, def) }

// GetEnvFloat returns the variable's value, or def where it is not set or no finite
// number.
func GetEnvFloat(key EnvKey, def float64) float64 { return read(key, def) }

// GetEnvDuration returns the variable's value, or def where it is not set or no duration.
// A number without a unit counts in the variable's own unit, where the table gives one.
func GetEnvDuration(key EnvKey, def time.Duration) time.Duration {
	return read(key, def)
}

// GetEnvList returns the variable's comma-separated values without surrounding space or
// empty ones, or def where it is not set.
func GetEnvList(key EnvKey, def ...string) []string { return read(key, def) }

// read returns the value of key as a T, or def.
func read[T any](key EnvKey, def T) T {
	v := Lookup(key)
	text, set := v.from(Environment())
	if set {
		as := Var{Unit: v.Unit}
		as.Type, _ = typeOf(reflect.TypeFor[T]())
		_ = as.assign(reflect.ValueOf(&def).Elem(), text) // which leaves def if it fails
	}
	return def
}

// Problem is the one line that says what is wrong with a variable, such as
//
//	PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)
//
// The value of a secret variable is left out, and credentials in any other are redacted.
func Problem(key EnvKey, value, problem, accepted string) error {
	return problemOf(Lookup(key), value, problem, accepted)
}

func (v Var) problem(value, problem string) error {
	return problemOf(v, value, problem, v.Accepted())
}

// mostShown is how many characters of a wrong value a Problem has, so that it fits on a
// screen.
const mostShown = 64

func problemOf(v Var, value, problem, accepted string) error {
	shown := Redact(value)
	if utf8.RuneCountInString(shown) > mostShown {
		shown = fmt.Sprintf("%.*s…", mostShown, shown)
	}
	shown = fmt.Sprintf("%q ", shown)
	if v.Secret {
		shown = "the value "
	}
	if value == "" {
		shown = ""
	}
	if accepted != "" {
		accepted = " (accepted: " + accepted + ")"
	}
	return fmt.Errorf("%s: %s%s%s", v.Key, shown, problem, accepted) //nolint:err113 // the text is for people
}
