package scaffold_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// module is the module path of the services in the tests.
const module = "example.com/my.shop/v2"

// combinations returns all combinations of options.
func combinations() []scaffold.Spec {
	var all []scaffold.Spec
	for _, database := range append(catalog.Names(catalog.Databases()), catalog.None) {
		for _, cache := range append(catalog.Names(catalog.Caches()), catalog.None) {
			for extras := range 16 {
				all = append(all, scaffold.Spec{
					Module: module, Database: database, Cache: cache,
					GRPC: extras&1 > 0, Async: extras&2 > 0, Cron: extras&4 > 0, Mail: extras&8 > 0,
				})
			}
		}
	}
	return all
}

// name returns a name of a service for messages.
func name(spec scaffold.Spec) string {
	words := []string{spec.Database, spec.Cache}
	for _, extra := range []struct {
		wanted bool
		word   string
	}{{spec.GRPC, "grpc"}, {spec.Async, "async"}, {spec.Cron, "cron"}, {spec.Mail, "mail"}} {
		if extra.wanted {
			words = append(words, extra.word)
		}
	}
	return strings.Join(words, "-")
}

// renderCache contains rendered services, which tests share and do not change.
var renderCache sync.Map

type rendering struct {
	service *scaffold.Service
	files   scaffold.Files
}

// requiredVersions returns the versions in the go.mod of plinth.
func requiredVersions(t *testing.T) scaffold.Versions {
	t.Helper()
	gomod, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	versions, err := scaffold.ReadVersions(gomod)
	if err != nil {
		t.Fatal(err)
	}
	return versions
}

func rendered(t *testing.T, spec scaffold.Spec) (*scaffold.Service, scaffold.Files) {
	t.Helper()
	if found, ok := renderCache.Load(spec); ok {
		o := found.(rendering)
		return o.service, o.files
	}
	s, err := scaffold.NewService(spec, requiredVersions(t))
	if err != nil {
		t.Fatal(err)
	}
	files, err := scaffold.Render(s)
	if err != nil {
		t.Fatalf("%s: %v", name(spec), err)
	}
	renderCache.Store(spec, rendering{s, files})
	return s, files
}

// withAllFeatures returns the spec of a service with all features.
func withAllFeatures(database, cache string) scaffold.Spec {
	return scaffold.Spec{
		Module: "example.com/shop", Database: database, Cache: cache,
		GRPC: true, Async: true, Cron: true, Mail: true,
	}
}
