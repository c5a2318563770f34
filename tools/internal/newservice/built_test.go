package newservice_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// samples covers a file, a server and no backend for database and cache, and each feature
// with and without the others.
var samples = []options{
	{database: "sqlite", cache: "memory"},
	{database: "postgres", cache: "redis", grpc: true, mail: true},
	{database: "mysql", cache: "none", async: true, cron: true},
	{database: "none", cache: "none", grpc: true, async: true, cron: true, mail: true},
}

var (
	databases = []string{"sqlite", "postgres", "mysql", "oracle", "sqlserver", "none"}
	caches    = []string{"memory", "redis", "none"}
)

// combinations returns all combinations of options.
func combinations() []options {
	var all []options
	for _, database := range databases {
		for _, cache := range caches {
			for features := range 16 {
				all = append(all, options{
					database: database, cache: cache,
					grpc: features&1 > 0, async: features&2 > 0,
					cron: features&4 > 0, mail: features&8 > 0,
				})
			}
		}
	}
	return all
}

// TestNew_Services builds, vets and tests services as a consumer does.
// PLINTH_TEST_COMBINATIONS=all tests all combinations.
func TestNew_Services(t *testing.T) {
	services := samples
	if os.Getenv("PLINTH_TEST_COMBINATIONS") == "all" {
		services = combinations()
	}
	for _, o := range services {
		t.Run(strings.Join(o.flags(), " "), func(t *testing.T) {
			p := newProject(t, o)
			want := directRequirements(t, p)
			p.goCommand("mod", "tidy")
			if got := directRequirements(t, p); got != want {
				t.Errorf("direct requirements after go mod tidy =\n%s\nwant\n%s", got, want)
			}
			p.buildAndTest()
		})
	}
}

// directRequirements returns the direct requirements in the go.mod of the service.
func directRequirements(t *testing.T, p *project) string {
	t.Helper()
	file, err := modfile.Parse("go.mod", []byte(p.read("go.mod")), nil)
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

// allFields has a field of each type.
var allFields = []string{
	"customer:string", "remark:text", "pieces:int", "total:int64", "weight:float64", "paid:bool",
	"paid_at:time", "userId:id",
}

func TestGen_Entities(t *testing.T) {
	for _, database := range []string{"sqlite", "none"} {
		t.Run(database, func(t *testing.T) {
			p := newTidyProject(t, withAll(database, "memory"))
			order := append([]string{"gen", "entity", "OrderItem"}, allFields...)
			for _, args := range [][]string{
				order,
				{"gen", "entity", "Category", "title:string"},
				{"gen", "entity", "HomeUrl", "customerId:id", "api_url:string"},
			} {
				if out, err := p.plinth(args...); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			p.buildAndTest()
			if out, err := p.plinth(order...); err == nil ||
				!strings.Contains(out, "orderitem.go already exists") {
				t.Errorf("the same entity again: %v\n%s", err, out)
			}
		})
	}
}

// added is the JSON output of plinth add.
type added struct {
	Changes []struct{ Path string }
	Left    []string
}

func TestAdd_Backends(t *testing.T) {
	p := newTidyProject(t, options{database: "none", cache: "none"})
	add := func(kind, name string) (a added) {
		out, err := p.command(nil, p.sandbox.Path("plinth"), "add", kind, name, "--json",
			"--no-tidy").Output()
		if err == nil {
			err = json.Unmarshal(out, &a)
		}
		if err != nil {
			t.Fatalf("add %s %s: %v\n%s", kind, name, err, out)
		}
		return a
	}
	secrets := map[string]int{"postgres": 1, "mysql": 1, "oracle": 1, "sqlserver": 1, "redis": 1}
	for i, name := range slices.Concat(caches, databases) {
		kind := "cache"
		if i >= len(caches) {
			kind = "db"
		}
		if name == "none" {
			continue
		}
		if remaining := add(kind, name).Left; len(remaining) > secrets[name] {
			t.Errorf("%s: remaining steps = %q", name, remaining)
		}
		if again := add(kind, name); len(again.Changes) > 0 {
			t.Errorf("%s again: %+v", name, again)
		}
	}
	p.goCommand("mod", "tidy")
	p.buildAndTest()
	if _, err := os.Stat(filepath.Join(p.dir, "plugins.go")); err != nil {
		t.Error(err)
	}
}
