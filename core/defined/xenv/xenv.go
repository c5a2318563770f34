// Package xenv reads configuration from environment variables.
//
// A package declares its variables as a struct and registers them:
//
//	func init() { xenv.Register[settings]("Orders") }
//
//	cfg, err := xenv.Load[settings](xenv.Environment())
//
// The registry contains the variables of all packages that a program links. The
// validation at startup, .env.example, the documentation and the command line use it.
//
// An empty value counts as not set: it overrides neither .env nor a default. The value
// "none" also counts as not set if the variable is registered without a default, and it
// overrides .env.
//
// All functions are safe for concurrent use. SetEnv and Apply change the environment of
// the process: call them at startup only.
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

// none is the value that marks a variable as not set and overrides .env.
const none = "none"

// GetEnv returns the variable's value and whether it is set. An empty value counts as not
// set. So does the value "none" if the variable is registered without a default.
func GetEnv(key EnvKey) (string, bool) { return Lookup(key).from(Environment()) }

// SetEnv sets the variable for this process and its child processes.
func SetEnv(key EnvKey, value string) error {
	if err := os.Setenv(string(key), value); err != nil {
		return fmt.Errorf("xenv: set %q: %w", key, err)
	}
	return nil
}

// Apply sets the variables of a .env file that the environment does not set. Empty values
// count as not set in both.
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

// GetEnvString returns the variable's value, or def if it is not set.
func GetEnvString(key EnvKey, def string) string { return read(key, def) }

// GetEnvBool returns the variable's value, or def if it is not set or not a boolean.
func GetEnvBool(key EnvKey, def bool) bool { return read(key, def) }

// GetEnvInt returns the variable's value, or def if it is not set or not an integer.
func GetEnvInt(key EnvKey, def int) int { return read(key, def) }

// GetEnvInt64 returns the variable's value, or def if it is not set or not an integer.
func GetEnvInt64(key EnvKey, def int64) int64 { return read(key, def) }

// GetEnvFloat returns the variable's value, or def if it is not set or not a finite
// number.
func GetEnvFloat(key EnvKey, def float64) float64 { return read(key, def) }

// GetEnvDuration returns the variable's value, or def if it is not set or not a duration.
// A number without a unit is in the unit of the registered variable, if it has one.
func GetEnvDuration(key EnvKey, def time.Duration) time.Duration {
	return read(key, def)
}

// GetEnvList returns the variable's comma-separated values, or def if it is not set.
// Surrounding space is trimmed and empty values are dropped.
func GetEnvList(key EnvKey, def ...string) []string { return read(key, def) }

func read[T any](key EnvKey, def T) T {
	v := Lookup(key)
	text, set := v.from(Environment())
	if set {
		as := Var{Unit: v.Unit}
		as.Type, _ = typeOf(reflect.TypeFor[T]())
		_ = as.assign(reflect.ValueOf(&def).Elem(), text) // def is unchanged if assign fails
	}
	return def
}

// Problem returns a one-line error about a variable, such as
//
//	PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)
//
// It omits the value of a secret variable and redacts credentials in other values.
func Problem(key EnvKey, value, problem, accepted string) error {
	return problemOf(Lookup(key), value, problem, accepted)
}

func (v Var) problem(value, problem string) error {
	return problemOf(v, value, problem, v.Accepted())
}

// maxShown is the maximum number of characters of a value in a Problem.
const maxShown = 64

func problemOf(v Var, value, problem, accepted string) error {
	shown := Redact(value)
	if utf8.RuneCountInString(shown) > maxShown {
		shown = fmt.Sprintf("%.*s…", maxShown, shown)
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
	//nolint:err113 // the text is for users
	return fmt.Errorf("%s: %s%s%s", v.Key, shown, problem, accepted)
}
