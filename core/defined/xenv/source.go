package xenv

import "os"

// Source is a source of values. An empty value counts as not set.
type Source interface {
	// Lookup returns the value of the named variable and whether it is set.
	Lookup(name string) (value string, set bool)
}

// Map is a Source for tests and for values from outside the environment. A nil Map is
// empty.
type Map map[string]string

// Lookup implements Source.
func (m Map) Lookup(name string) (string, bool) {
	value := m[name]
	return value, value != ""
}

// Environment returns the process environment, including the variables that Apply added.
func Environment() Source { return environment{} }

type environment struct{}

// Lookup implements Source.
func (environment) Lookup(name string) (string, bool) {
	value := os.Getenv(name)
	return value, value != ""
}
