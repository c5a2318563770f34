// Package catalog is what a service can be made of: the one place that knows a backend's
// module, variables and container.
package catalog

import (
	"embed"
	"slices"
	"strings"
)

// Project begins the import paths of the modules that a service requires.
const Project = "github.com/plinthgo/plinth"

// None is the word for no backend of a kind.
const None = "none"

// A Kind is what a backend is for.
type Kind string

// The kinds of backends.
const (
	Database Kind = "database"
	Cache    Kind = "cache"
	Mail     Kind = "mail"
)

// A Backend is one thing that a service keeps its data in, or sends through.
type Backend struct {
	// Name is the driver's, as the environment has it.
	Name string
	// Title is the name for people.
	Title string
	// Kind is what it is for.
	Kind Kind
	// Module is the import path of the plugin; "" is none.
	Module string
	// Server reports whether it is one that runs by itself, in a container of its name.
	Server bool
	// Settings are the variables that choose it and say where it is.
	Settings []Setting
}

// A Setting is one variable and its value at each place. A value may hold <name> and
// <database>, for those of the service.
type Setting struct {
	Key string
	// Local is the value on the developer's machine, Container in Compose and Cluster on
	// Kubernetes, these two as YAML; "" does not set it.
	Local, Container, Cluster string
	// Secret is the name of the value in the secret of the cluster, where it is one. No
	// place has the value then.
	Secret string
}

// A Value is a variable with the value that it is to have.
type Value struct{ Key, Value string }

// Find returns the backend of that name.
func Find(backends []Backend, name string) (Backend, bool) {
	i := slices.IndexFunc(backends, func(b Backend) bool { return b.Name == name })
	if i < 0 {
		return Backend{}, false
	}
	return backends[i], true
}

// Names returns the names of the backends.
func Names(backends []Backend) []string {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.Name
	}
	return names
}

// Local returns what .env sets for a service of that name. A secret is there without a
// value.
func (b Backend) Local(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Local })
}

// Container returns what Compose sets, as YAML. A secret comes from the environment of
// Compose itself.
func (b Backend) Container(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Container })
}

// Cluster returns what the ConfigMap sets, as YAML. Secrets are not among it.
func (b Backend) Cluster(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Cluster })
}

// Secrets returns the variables whose values are secret, each with its name in the secret
// of the cluster.
func (b Backend) Secrets() []Value {
	return b.values("", func(s Setting) string { return s.Secret })
}

func (b Backend) values(name string, of func(Setting) string) []Value {
	var list []Value
	for _, s := range b.Settings {
		if value := of(s); value != "" {
			list = append(list, Value{s.Key, expand(value, name)})
		}
	}
	return list
}

//go:embed compose
var blocks embed.FS

// Block returns the service of a server's own in compose.yaml, of a service of that name.
func (b Backend) Block(name string) (string, error) {
	text, err := blocks.ReadFile("compose/" + b.Name + ".yaml")
	return expand(string(text), name), err
}

// empty is a value that is there for people to fill in.
const empty = "<empty>"

// expand fills in what a value says of the service. Databases take an identifier without
// quotes.
func expand(value, name string) string {
	return strings.NewReplacer("<name>", name, "<database>",
		strings.ReplaceAll(name, "-", "_"), empty, "").Replace(value)
}
