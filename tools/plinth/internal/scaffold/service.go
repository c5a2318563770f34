// Package scaffold creates and extends services.
//
// All files come from the embedded templates. The package runs no programs and downloads
// nothing.
package scaffold

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// Spec describes a new service.
type Spec struct {
	Module string
	// Database and Cache are names of the catalog, or catalog.None.
	Database, Cache         string
	GRPC, Async, Cron, Mail bool
}

// Service is the template data of a service.
type Service struct {
	Module, Name            string
	DB, Cache               *catalog.Backend // nil if not used
	GRPC, Async, Cron, Mail bool
	versions                Versions
}

// Versions maps module paths to versions.
type Versions map[string]string

// ReadVersions returns the version of each module that a go.mod requires.
func ReadVersions(gomod []byte) (Versions, error) {
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil {
		return nil, fmt.Errorf("read the versions of modules: %w", err)
	}
	versions := make(Versions, len(file.Require))
	for _, r := range file.Require {
		versions[r.Mod.Path] = r.Mod.Version
	}
	return versions, nil
}

// NewService returns the service that spec describes, or an error that lists every
// problem. The service requires its modules at the given versions.
func NewService(spec Spec, versions Versions) (*Service, error) {
	database, databaseErr := choose("database", catalog.Databases(), spec.Database)
	cache, cacheErr := choose("cache", catalog.Caches(), spec.Cache)
	if err := errors.Join(CheckModule(spec.Module), databaseErr, cacheErr); err != nil {
		return nil, err
	}
	return &Service{
		Module: spec.Module, Name: serviceName(spec.Module), DB: database, Cache: cache,
		GRPC: spec.GRPC, Async: spec.Async, Cron: spec.Cron, Mail: spec.Mail,
		versions: versions,
	}, nil
}

// choose returns the backend with the given name, or nil for catalog.None.
func choose(kind string, backends []catalog.Backend, name string) (*catalog.Backend, error) {
	if name == catalog.None {
		return nil, nil
	}
	b, ok := catalog.Find(backends, name)
	if !ok {
		return nil, fmt.Errorf("unknown %s %q; available: %s, none",
			kind, name, strings.Join(catalog.Names(backends), ", "))
	}
	return &b, nil
}

// SQLite reports whether the database is a file.
func (s *Service) SQLite() bool { return s.DB != nil && !s.DB.Server }

// Replicated reports whether several replicas can share the data.
func (s *Service) Replicated() bool { return s.DB != nil && s.DB.Server }

// Servers reports whether the database or the cache is a server.
func (s *Service) Servers() bool { return s.Replicated() || s.Cache != nil && s.Cache.Server }

// DurableJobs reports whether jobs are stored in the database.
func (s *Service) DurableJobs() bool { return s.DB != nil && (s.Async || s.Mail) }

// HasTasks reports whether tasks run alongside the HTTP server.
func (s *Service) HasTasks() bool { return s.GRPC || s.Cron || s.DurableJobs() }

// HasNodes reports whether the service needs the file internal/startup/nodes.go.
func (s *Service) HasNodes() bool { return s.DurableJobs() || s.Mail }

// Backends returns the backends of the service.
func (s *Service) Backends() []catalog.Backend {
	var list []catalog.Backend
	for _, b := range []*catalog.Backend{s.DB, s.Cache} {
		if b != nil {
			list = append(list, *b)
		}
	}
	if s.Mail {
		list = append(list, catalog.Mailbox())
	}
	return list
}

// Containers returns the servers that Compose starts for the service.
func (s *Service) Containers() []catalog.Backend {
	return slices.DeleteFunc(s.Backends(), func(b catalog.Backend) bool { return !b.Server })
}

// ContainerTitles returns the display names of the containers.
func (s *Service) ContainerTitles() string {
	var titles []string
	for _, b := range s.Containers() {
		titles = append(titles, b.Title)
	}
	if last := len(titles) - 1; last > 0 {
		return strings.Join(titles[:last], ", ") + " and " + titles[last]
	}
	return strings.Join(titles, "")
}

// Secrets returns the variables that the Deployment reads from a secret.
func (s *Service) Secrets() []catalog.Value {
	var list []catalog.Value
	for _, b := range s.Backends() {
		list = append(list, b.Secrets()...)
	}
	return list
}

// Plugins returns the imports of plugins.go.
func (s *Service) Plugins() []string {
	var list []string
	for _, b := range s.Backends() {
		if b.Module != "" {
			list = append(list, b.Module)
		}
	}
	return list
}

// TestPlugins returns the imports of the tests, which use in-memory backends.
func (s *Service) TestPlugins() []string {
	var list []string
	if s.Replicated() {
		list = append(list, catalog.Databases()[0].Module)
	}
	if s.Cache != nil && s.Cache.Server {
		list = append(list, catalog.Caches()[0].Module)
	}
	return list
}

// Version returns the version of a module that this program was built with.
func (s *Service) Version(path string) string { return s.versions[path] }

// requirements returns the modules that the service imports.
func (s *Service) requirements() []string {
	list := slices.Concat([]string{
		catalog.Project + "/core", catalog.Project + "/openapix", "github.com/gin-gonic/gin",
	}, s.Plugins(), s.TestPlugins())
	for _, extra := range []struct {
		wanted bool
		paths  []string
	}{
		{s.DB != nil, []string{"gorm.io/gorm"}},
		{s.GRPC, []string{
			catalog.Project + "/grpcx", "google.golang.org/grpc", "google.golang.org/protobuf",
		}},
		{s.Async || s.Mail, []string{catalog.Project + "/asyncx"}},
		{s.Cron, []string{catalog.Project + "/cronx"}},
		{s.Mail, []string{catalog.Project + "/notifyx"}},
	} {
		if extra.wanted {
			list = append(list, extra.paths...)
		}
	}
	return list
}
