package scaffold_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

var plain = scaffold.Spec{Module: module, Database: "sqlite", Cache: "memory"}

func backend(t *testing.T, name string) catalog.Backend {
	t.Helper()
	b, ok := catalog.Find(append(catalog.Databases(), catalog.Caches()...), name)
	if !ok {
		t.Fatalf("no backend %s", name)
	}
	return b
}

func replace(t *testing.T, file, old, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q:\n%s", file, old, data)
	}
	changed := strings.ReplaceAll(string(data), old, text)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// contents returns the new content of the changed files.
func contents(changes []scaffold.Change) map[string]string {
	m := map[string]string{}
	for _, c := range changes {
		m[c.Path] = string(c.Text())
	}
	return m
}

func TestAddBackend(t *testing.T) {
	t.Run("preserves existing content", func(t *testing.T) {
		dir := newService(t, plain)
		replace(t, filepath.Join(dir, "plugins.go"), "dbplugins/sqlite\"",
			"dbplugins/sqlite\" // for one host")
		replace(t, filepath.Join(dir, "compose.yaml"), "    restart: unless-stopped",
			"    # comes back by itself\n    restart: unless-stopped")
		added, err := scaffold.AddBackend(dir, module, backend(t, "postgres"), requiredVersions(t))
		if err != nil {
			t.Fatal(err)
		}
		got := contents(added.Changes)
		for _, tc := range []struct {
			file string
			want []string
		}{
			{"plugins.go", []string{
				"dbplugins/sqlite\" // for one host\n",
				"\t_ \"github.com/plinthgo/plinth/dbplugins/postgres\"\n",
			}},
			{"go.mod", []string{"\tgithub.com/plinthgo/plinth/dbplugins/postgres v"}},
			{".env.example", []string{"# DATABASE_DRIVER=postgres\n# DATABASE_HOST=localhost\n# DATABASE_USER=my_shop\n# DATABASE_PASS=\n"}},
			{"compose.yaml", []string{
				"    # comes back by itself\n",
				"\n  postgres:\n    image: postgres:", "volumes:\n  data:\n  postgres:\n",
			}},
		} {
			for _, want := range tc.want {
				if !strings.Contains(got[tc.file], want) {
					t.Errorf("%s lacks %q:\n%s", tc.file, want, got[tc.file])
				}
			}
		}
		if len(got) != 4 || !slices.Equal(added.Left,
			[]string{"set DATABASE_PASS, which compose.yaml requires"}) {
			t.Errorf("changes = %v, left = %v", got, added.Left)
		}
	})

	t.Run("reports the remaining steps without a list of options", func(t *testing.T) {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"go.mod":  "module example.com/a\n\ngo 1.26.0\n",
			"main.go": "package main\n\nfunc main() {}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		added, err := scaffold.AddBackend(dir, "example.com/a", backend(t, "sqlite"), requiredVersions(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(added.Left) != 1 ||
			!strings.Contains(added.Left[0], "xoption.WithDatabase(xoptdatabase.FromEnv())") {
			t.Errorf("left = %q", added.Left)
		}
		if got := contents(added.Changes)["plugins.go"]; !strings.Contains(got, "dbplugins/sqlite") {
			t.Errorf("plugins.go = %s", got)
		}
	})
}

func TestAddBackend_Compose(t *testing.T) {
	t.Run("extends other layouts", func(t *testing.T) {
		for _, tc := range []struct{ name, text, want string }{
			{
				name: "no volumes", text: "services:\n  app:\n    image: a\n",
				want: "\nvolumes:\n  redis:\n",
			},
			{
				name: "services last",
				text: "volumes:\n  data:\n# all of them\nservices: # one\n  app:\n    image: a\n",
				want: "volumes:\n  data:\n  redis:\n# all of them\nservices: # one\n  app:\n    image: a\n\n  redis:\n    image: redis:",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				dir := newService(t, plain)
				file := filepath.Join(dir, "compose.yaml")
				if err := os.WriteFile(file, []byte(tc.text), 0o600); err != nil {
					t.Fatal(err)
				}
				added, err := scaffold.AddBackend(dir, module, backend(t, "redis"), requiredVersions(t))
				if err != nil {
					t.Fatal(err)
				}
				if got := contents(added.Changes)["compose.yaml"]; !strings.Contains(got, tc.want) {
					t.Errorf("compose.yaml lacks %q:\n%s", tc.want, got)
				}
			})
		}
	})

	t.Run("does not change unsupported layouts", func(t *testing.T) {
		for name, text := range map[string]string{
			"on one line": "services: {app: {image: a}}\n",
			"four spaces": "services:\n    app:\n        image: a\nvolumes:\n    data:\n",
		} {
			t.Run(name, func(t *testing.T) {
				dir := newService(t, plain)
				file := filepath.Join(dir, "compose.yaml")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				added, err := scaffold.AddBackend(dir, module, backend(t, "redis"), requiredVersions(t))
				if err != nil || len(added.Left) != 2 ||
					!strings.Contains(added.Left[1], "  redis:\n    image: redis:") {
					t.Fatalf("left = %q, %v", added.Left, err)
				}
				if got, changed := contents(added.Changes)["compose.yaml"]; changed {
					t.Errorf("compose.yaml becomes\n%s", got)
				}
			})
		}
	})
}

func TestGenEntity(t *testing.T) {
	t.Run("registers the entity", func(t *testing.T) {
		dir := newService(t, plain)
		edit, err := scaffold.GenEntity(dir, module, "OrderItem", []string{"name:string"})
		if err != nil {
			t.Fatal(err)
		}
		got := contents(edit.Changes)
		for file, want := range map[string]string{
			"internal/route/route.go":     "\tnotes(api)\n\torderItems(api)\n}\n",
			"internal/startup/startup.go": "WithAutoMigrate(&entity.Note{}, &entity.OrderItem{}),",
		} {
			if !strings.Contains(got[file], want) {
				t.Errorf("%s lacks %q:\n%s", file, want, got[file])
			}
		}
		want := []string{"run plinth openapi, which adds the routes to openapi.json"}
		if !slices.Equal(edit.Left, want) {
			t.Errorf("left = %q, want %q", edit.Left, want)
		}
	})

	t.Run("leaves no step without a document", func(t *testing.T) {
		dir := newService(t, plain)
		if err := os.Remove(filepath.Join(dir, "openapi.json")); err != nil {
			t.Fatal(err)
		}
		edit, err := scaffold.GenEntity(dir, module, "Order", []string{"name:string"})
		if err != nil || len(edit.Left) > 0 {
			t.Errorf("left = %q, %v", edit.Left, err)
		}
	})

	t.Run("adds typed routes to a service with gin handlers", func(t *testing.T) {
		if testing.Short() {
			t.Skip("compiles everything that a service can import")
		}
		dir := newService(t, plain)
		overlay(t, dir, "ginhandlers.txtar")
		edit, err := scaffold.GenEntity(dir, module, "OrderItem", allFields)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range edit.Changes {
			if strings.HasPrefix(c.Path, "internal/handler/") {
				t.Errorf("%s: %s, want no change", c.Path, c.What)
			}
		}
		if err := scaffold.Apply(dir, edit.Changes); err != nil {
			t.Fatal(err)
		}
		files := scaffold.Files{}
		for file, text := range tree(t, dir) {
			relative, err := filepath.Rel(dir, file)
			if err != nil {
				t.Fatal(err)
			}
			files[filepath.ToSlash(relative)] = []byte(text)
		}
		if err := newChecker(t, []scaffold.Spec{plain}).check(files); err != nil {
			t.Error(err)
		}
	})

	t.Run("rejects other layouts", func(t *testing.T) {
		dir := newService(t, plain)
		replace(t, filepath.Join(dir, "internal", "route", "route.go"), "func Register(",
			"func AddRoutes(")
		before := tree(t, dir)
		_, err := scaffold.GenEntity(dir, module, "Order", []string{"name:string"})
		if err == nil || !strings.Contains(err.Error(), "internal/route has no function Register") {
			t.Errorf("error = %v", err)
		}
		if !maps.Equal(tree(t, dir), before) {
			t.Error("files changed")
		}
	})
}

// overlay writes the files of an archive in testdata below dir.
func overlay(t *testing.T, dir, archive string) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", archive))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestApply(t *testing.T) {
	dir := newService(t, plain)
	edit, err := scaffold.GenEntity(dir, module, "Order", []string{"name:string"})
	if err != nil {
		t.Fatal(err)
	}
	// Apply writes this file last and fails, because it is a directory.
	if err := os.Mkdir(filepath.Join(dir, "order_test.go"), 0o750); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	if err := scaffold.Apply(dir, edit.Changes); err == nil ||
		!strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("error = %v", err)
	}
	if !maps.Equal(tree(t, dir), before) {
		t.Error("files changed")
	}
}
