// Package catalog defines the backends of services: modules, variables and containers.
package catalog

import (
	"embed"
	"slices"
	"strings"
)

// Project is the prefix of the import paths of Plinth.
const Project = "github.com/plinthgo/plinth"

// None selects no backend.
const None = "none"

// A Kind is the purpose of a backend.
type Kind string

// Kinds of backends.
const (
	Database Kind = "database"
	Cache    Kind = "cache"
	Mail     Kind = "mail"
)

// A Backend is a database, a cache or a mail server.
type Backend struct {
	// Name is the driver name in the environment.
	Name string
	// Title is the display name.
	Title string
	// Kind is the purpose.
	Kind Kind
	// Module is the import path of the driver, or "".
	Module string
	// Server reports whether the backend runs in its own container.
	Server bool
	// Settings are the variables that select and configure the backend.
	Settings []Setting
}

// A Setting is a variable with its value in each environment. Values may contain the
// placeholders <name> and <database>.
type Setting struct {
	Key string
	// Local is the value for development. Container and Cluster are YAML values for
	// Compose and Kubernetes. "" leaves the variable unset.
	Local, Container, Cluster string
	// Secret is the key in the Kubernetes secret if the variable is a secret.
	Secret string
}

// A Value is a variable with a value.
type Value struct{ Key, Value string }

// Find returns the backend with the given name.
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

// Local returns the values for .env. Secrets are empty.
func (b Backend) Local(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Local })
}

// Container returns the YAML values for Compose. Secrets refer to the environment of
// Compose.
func (b Backend) Container(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Container })
}

// Cluster returns the YAML values for the ConfigMap, without secrets.
func (b Backend) Cluster(name string) []Value {
	return b.values(name, func(s Setting) string { return s.Cluster })
}

// Secrets returns the secret variables with their keys in the Kubernetes secret.
func (b Backend) Secrets() []Value {
	return b.values("", func(s Setting) string { return s.Secret })
}

func (b Backend) values(name string, valueOf func(Setting) string) []Value {
	var list []Value
	for _, s := range b.Settings {
		if value := valueOf(s); value != "" {
			list = append(list, Value{s.Key, expand(value, name)})
		}
	}
	return list
}

//go:embed compose
var blocks embed.FS

// Block returns the service of the backend in compose.yaml.
func (b Backend) Block(name string) (string, error) {
	text, err := blocks.ReadFile("compose/" + b.Name + ".yaml")
	return expand(string(text), name), err
}

// empty marks a value that the user must set.
const empty = "<empty>"

// expand replaces the placeholders. <database> is a valid unquoted identifier.
func expand(value, name string) string {
	database := strings.ReplaceAll(name, "-", "_")
	return strings.NewReplacer("<name>", name, "<database>", database, empty, "").Replace(value)
}
