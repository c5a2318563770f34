package scaffold_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

// few has a file, a server and nothing for the database and the cache, and each extra with and without the others.
var few = []scaffold.Wanted{
	{Module: module, Database: "sqlite", Cache: "memory"},
	{Module: module, Database: "postgres", Cache: "redis", GRPC: true, Mail: true},
	{Module: module, Database: "mysql", Cache: "none", Async: true, Cron: true},
	{Module: module, Database: "none", Cache: "none", GRPC: true, Async: true, Cron: true, Mail: true},
}

// TestServicesWork builds, vets and tests what is written, as the machine of somebody else does it:
// PLINTH_TEST_COMBINATIONS=all for every combination.
func TestServicesWork(t *testing.T) {
	wanted := few
	if os.Getenv("PLINTH_TEST_COMBINATIONS") == "all" {
		wanted = combinations()
	}
	for _, w := range wanted {
		t.Run(name(w), func(t *testing.T) {
			p := write(t, w)
			if got, want := direct(t, p), requirementsBefore(t, w); got != want {
				t.Errorf("go mod tidy makes the direct requirements\n%s\nof\n%s", got, want)
			}
			p.works()
		})
	}
}

// requirementsBefore are those that the scaffold writes.
func requirementsBefore(t *testing.T, w scaffold.Wanted) string {
	t.Helper()
	_, files := rendered(t, w)
	return requirements(t, files["go.mod"])
}

// direct are the requirements of the service's go.mod that are its own.
func direct(t *testing.T, p *project) string {
	t.Helper()
	return requirements(t, []byte(p.read("go.mod")))
}

func requirements(t *testing.T, text []byte) string {
	t.Helper()
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range file.Require {
		if !r.Indirect {
			lines = append(lines, r.Mod.String())
		}
	}
	return strings.Join(lines, "\n")
}

func TestGeneratedEntitiesWork(t *testing.T) {
	for _, database := range []string{"sqlite", "none"} {
		t.Run(database, func(t *testing.T) {
			w := everything(database, "memory")
			p := write(t, w)
			for _, args := range [][]string{append([]string{"OrderItem"}, allFields...), {"Category", "title:string"}, {"HomeUrl", "customerId:id", "api_url:string"}} {
				changes, err := scaffold.GenEntity(p.dir, w.Module, args[0], args[1:])
				if err != nil {
					t.Fatal(err)
				}
				if err := scaffold.Apply(p.dir, changes); err != nil {
					t.Fatal(err)
				}
			}
			p.works()
			if _, err := scaffold.GenEntity(p.dir, w.Module, "OrderItem", allFields); err == nil || !strings.Contains(err.Error(), "order_item.go is there") {
				t.Errorf("the same entity again: %v", err)
			}
		})
	}
}

func TestAddedBackendsWork(t *testing.T) {
	w := scaffold.Wanted{Module: module, Database: "none", Cache: "none"}
	p := write(t, w)
	for _, b := range append(catalog.Caches(), catalog.Databases()...) {
		added, err := scaffold.AddBackend(p.dir, w.Module, b)
		if err != nil {
			t.Fatal(err)
		}
		if err := scaffold.Apply(p.dir, added.Changes); err != nil {
			t.Fatal(err)
		}
		if len(added.Left) > len(b.Secrets()) {
			t.Errorf("%s: left to do: %q", b.Name, added.Left)
		}
		again, err := scaffold.AddBackend(p.dir, w.Module, b)
		if err != nil || len(again.Changes) > 0 {
			t.Errorf("%s again: %+v, %v", b.Name, again, err)
		}
	}
	p.goCommand("mod", "tidy")
	p.works()
	if _, err := os.Stat(filepath.Join(p.dir, "plugins.go")); err != nil {
		t.Error(err)
	}
}
