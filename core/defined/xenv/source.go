package xenv

import "os"

// Source is where values come from. An empty value counts as not set.
type Source interface {
	// Lookup returns the value of the variable called name, and whether it is set.
	Lookup(name string) (value string, set bool)
}

// Map is a Source for tests and for values that come from elsewhere. A nil Map sets
// nothing.
type Map map[string]string

// Lookup implements Source.
func (m Map) Lookup(name string) (string, bool) {
	value := m[name]
	return value, value != ""
}

// Environment returns the environment of the process, with what Apply has added from
// .env.
func Environment() Source { return environment{} }

type environment struct{}

// Lookup implements Source. An empty variable counts as not set.
func (environment) Lookup(name string) (string, bool) {
	value := os.Getenv(name)
	return value, value != ""
}
