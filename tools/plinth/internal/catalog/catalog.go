// Package catalog is what a service can be made of: the one place that knows a backend's module, variables and container.
package catalog

import "strings"

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
	// Settings are the variables that choose it and say where it is.
	Settings []Setting

	container string // file of the Compose service; "" where it is no server
	volume    bool
}

// A Setting is one variable and its value at each place. A value may hold <name> and <database>, for those of the service.
type Setting struct {
	Key string
	// Local is the value on the developer's machine, Container in Compose, Cluster on Kubernetes; "" does not set it.
	Local, Container, Cluster string
	// Secret is the name of the value in the secret of the cluster, where it is one. No place has the value then.
	Secret string
}

// Databases are the databases, in the order in which people are asked.
func Databases() []Backend {
	return []Backend{sqlite(), postgres(), mysql(), oracle(), sqlserver()}
}

// Caches are the caches, in the order in which people are asked.
func Caches() []Backend { return []Backend{memory(), redis()} }

// Mailbox is the mail server of a developer's machine.
func Mailbox() Backend {
	return Backend{Name: "mailpit", Title: "Mailpit", Kind: Mail, container: "mailpit", Settings: []Setting{
		{Key: "EMAIL_HOST", Local: "localhost", Container: "mailpit", Cluster: "smtp.example.org"},
		{Key: "EMAIL_PORT", Local: "1025", Container: "1025", Cluster: "587"},
		{Key: "EMAIL_USER", Cluster: "<name>"},
		{Key: "EMAIL_PASS", Secret: "email-password"},
		{Key: "EMAIL_FROM", Local: "<name>@example.org", Container: "<name>@example.org", Cluster: "<name>@example.org"},
		{Key: "EMAIL_TLS", Local: "none", Container: "none", Cluster: "starttls"},
	}}
}

// Find returns the backend of that name.
func Find(backends []Backend, name string) (Backend, bool) {
	for _, b := range backends {
		if b.Name == name {
			return b, true
		}
	}
	return Backend{}, false
}

// Names returns the names of the backends.
func Names(backends []Backend) []string {
	names := make([]string, len(backends))
	for i, b := range backends {
		names[i] = b.Name
	}
	return names
}

// Server reports whether the backend is one that runs by itself.
func (b Backend) Server() bool { return b.container != "" }

// Volume returns the name of the volume with its data, or "".
func (b Backend) Volume() string {
	if b.volume {
		return b.Name
	}
	return ""
}

func plugin(family, name string) string { return Project + "/" + family + "/" + name }

// chosen is the variable that names the driver, the same at each place.
func chosen(key, driver string) Setting {
	return Setting{Key: key, Local: driver, Container: driver, Cluster: driver}
}

// expand fills in what a value says of the service.
func expand(value, name string) string {
	return strings.NewReplacer("<name>", name, "<database>", Identifier(name)).Replace(value)
}

// Identifier is the name of a service as databases take it without quotes.
func Identifier(name string) string { return strings.ReplaceAll(name, "-", "_") }
