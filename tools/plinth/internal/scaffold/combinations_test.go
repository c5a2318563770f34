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

// module is that of the services in the tests.
const module = "example.com/my.shop/v2"

// combinations are all services that can be wanted.
func combinations() []scaffold.Wanted {
	var all []scaffold.Wanted
	for _, database := range append(catalog.Names(catalog.Databases()), catalog.None) {
		for _, cache := range append(catalog.Names(catalog.Caches()), catalog.None) {
			for extras := range 16 {
				all = append(all, scaffold.Wanted{
					Module: module, Database: database, Cache: cache,
					GRPC: extras&1 > 0, Async: extras&2 > 0, Cron: extras&4 > 0, Mail: extras&8 > 0,
				})
			}
		}
	}
	return all
}

// name says in one word which service is wanted.
func name(w scaffold.Wanted) string {
	words := []string{w.Database, w.Cache}
	for _, extra := range []struct {
		wanted bool
		word   string
	}{{w.GRPC, "grpc"}, {w.Async, "async"}, {w.Cron, "cron"}, {w.Mail, "mail"}} {
		if extra.wanted {
			words = append(words, extra.word)
		}
	}
	return strings.Join(words, "-")
}

// once keeps what was rendered: the tests look at the same services, and change none.
var once sync.Map

type outcome struct {
	service *scaffold.Service
	files   scaffold.Files
}

// required returns the versions that the go.mod of the program requires.
func required(t *testing.T) scaffold.Versions {
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

func rendered(t *testing.T, w scaffold.Wanted) (*scaffold.Service, scaffold.Files) {
	t.Helper()
	if found, ok := once.Load(w); ok {
		o := found.(outcome)
		return o.service, o.files
	}
	s, err := scaffold.NewService(w, required(t))
	if err != nil {
		t.Fatal(err)
	}
	files, err := scaffold.Render(s)
	if err != nil {
		t.Fatalf("%s: %v", name(w), err)
	}
	once.Store(w, outcome{s, files})
	return s, files
}

// everything is the service with all options.
func everything(database, cache string) scaffold.Wanted {
	return scaffold.Wanted{
		Module:   "example.com/shop",
		Database: database, Cache: cache, GRPC: true, Async: true, Cron: true, Mail: true,
	}
}
