package scaffold

import (
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// Versions of tools that the Makefile runs; the repository's own Makefile has the same.
const (
	lintVersion       = "v2.15.0"
	bufVersion        = "v1.73.0"
	protocGRPCVersion = "v1.6.2"
)

// LintVersion is the version of golangci-lint.
func (*Service) LintVersion() string { return lintVersion }

// BufVersion is the version of buf.
func (*Service) BufVersion() string { return bufVersion }

// ProtocGRPCVersion is the version of protoc-gen-go-grpc.
func (*Service) ProtocGRPCVersion() string { return protocGRPCVersion }

// Container is a service beside this one in compose.yaml.
type Container struct{ Name, Title, Block string }

// Containers are the servers that Compose starts beside the service.
func (s *Service) Containers() ([]Container, error) {
	var list []Container
	for _, b := range s.Backends() {
		if !b.Server() {
			continue
		}
		block, err := b.Block(s.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, Container{b.Name, b.Title, block})
	}
	return list, nil
}

// ContainerTitles are the names of the containers for people.
func (s *Service) ContainerTitles() string {
	var titles []string
	for _, b := range s.Backends() {
		if b.Server() {
			titles = append(titles, b.Title)
		}
	}
	if last := len(titles) - 1; last > 0 {
		return strings.Join(titles[:last], ", ") + " and " + titles[last]
	}
	return strings.Join(titles, "")
}

// Volumes are the volumes of compose.yaml.
func (s *Service) Volumes() []string {
	var names []string
	if s.SQLite() {
		names = append(names, "data")
	}
	for _, b := range s.Backends() {
		if v := b.Volume(); v != "" {
			names = append(names, v)
		}
	}
	return names
}

// ComposeEnv is what compose.yaml sets for the service.
func (s *Service) ComposeEnv() []catalog.Value {
	return s.gather(func(b catalog.Backend) []catalog.Value { return b.Container(s.Name) })
}

// ClusterEnv is what the ConfigMap sets.
func (s *Service) ClusterEnv() []catalog.Value {
	return s.gather(func(b catalog.Backend) []catalog.Value { return b.Cluster(s.Name) })
}

// LocalEnv is what .env sets.
func (s *Service) LocalEnv() []catalog.Value {
	return s.gather(func(b catalog.Backend) []catalog.Value { return b.Local(s.Name) })
}

// Secrets are the variables that the Deployment takes from a secret.
func (s *Service) Secrets() []catalog.Value { return s.gather(catalog.Backend.Secrets) }

// DevSecrets are the variables for which the Makefile makes passwords: those of the containers that ask for one.
func (s *Service) DevSecrets() []string {
	var keys []string
	for _, b := range s.Backends() {
		if b.Kind == catalog.Mail {
			continue
		}
		for _, v := range b.Secrets() {
			keys = append(keys, v.Key)
		}
	}
	return keys
}

func (s *Service) gather(of func(catalog.Backend) []catalog.Value) []catalog.Value {
	var list []catalog.Value
	for _, b := range s.Backends() {
		list = append(list, of(b)...)
	}
	return list
}

// Default is what the service's options set where nobody else does.
type Default struct {
	// Name is the variable in Go.
	Name string
	catalog.Value
}

// Defaults are the defaults of the service's own.
func (s *Service) Defaults() []Default {
	list := []Default{{"xenv.AppName", catalog.Value{Key: "APP_NAME", Value: s.Name}}}
	if s.DB != nil {
		list = append(list, Default{"xenv.DatabaseDriver", catalog.Value{Key: "DATABASE_DRIVER", Value: s.DB.Name}})
	}
	if s.SQLite() {
		list = append(list, Default{`"DATABASE_PATH"`, catalog.Value{Key: "DATABASE_PATH", Value: s.Name + ".db"}})
	}
	if s.Cache != nil {
		list = append(list, Default{"xenv.NoSqlDriver", catalog.Value{Key: "NOSQL_DRIVER", Value: s.Cache.Name}})
	}
	return list
}

// NeedsEnv reports whether .env has to set something.
func (s *Service) NeedsEnv() bool { return len(s.LocalEnv()) > 0 }
