package scaffold_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/plinth/internal/scaffold"
)

var twoFiles = scaffold.Files{
	"go.mod":          []byte("module a\n"),
	"internal/a/a.go": []byte("package a\n"),
}

// names returns the entries of a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestCreate(t *testing.T) {
	t.Run("writes into a new or empty directory", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			make func(dir string) error
		}{
			{name: "new directory", make: func(string) error { return nil }},
			{name: "empty directory", make: func(dir string) error { return os.Mkdir(dir, 0o750) }},
			{name: "empty repository", make: func(dir string) error {
				return os.MkdirAll(filepath.Join(dir, ".git"), 0o750)
			}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				parent := t.TempDir()
				dir := filepath.Join(parent, "shop")
				if err := tc.make(dir); err != nil {
					t.Fatal(err)
				}
				if err := scaffold.Create(dir, twoFiles); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(filepath.Join(dir, "internal", "a", "a.go"))
				if string(text) != "package a\n" {
					t.Errorf("file = %q, %v", text, err)
				}
				if got := names(t, parent); !slices.Equal(got, []string{"shop"}) {
					t.Errorf("parent directory: %q", got)
				}
			})
		}
	})

	t.Run("rejects a directory that is not empty", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := scaffold.Create(dir, twoFiles); err == nil ||
			!strings.Contains(err.Error(), "is not empty") {
			t.Errorf("error = %v", err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"notes.txt"}) {
			t.Errorf("the directory contains %q", got)
		}
	})

	t.Run("removes all files after a failure", func(t *testing.T) {
		parent := t.TempDir()
		files := scaffold.Files{
			"a":   []byte("a file"),
			"a/b": []byte("in a folder of the same name"),
		}
		if err := scaffold.Create(filepath.Join(parent, "shop"), files); err == nil {
			t.Error("no error")
		}
		if got := names(t, parent); len(got) > 0 {
			t.Errorf("remaining files: %q", got)
		}
	})
}

// newService writes a service and returns its directory.
func newService(t *testing.T, spec scaffold.Spec) string {
	t.Helper()
	_, files := rendered(t, spec)
	dir := filepath.Join(t.TempDir(), "service")
	if err := scaffold.Create(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tree returns the files below dir with their content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
