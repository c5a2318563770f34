package modproxy_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestPackWith(t *testing.T) {
	root := tree(t)
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	lib, over := modules[0], modproxy.Overlay{
		"lib.go": []byte("package lib\n\nconst New = 1\n"),
		"go.sum": []byte("x\n"),
	}
	hash := func(over modproxy.Overlay) string {
		t.Helper()
		h, err := modproxy.Hash(func(w io.Writer) error {
			return modproxy.PackWith(t.Context(), w, lib, "v0.1.0", over)
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	overlaid, before := hash(over), hash(nil)
	for name, text := range over {
		if err := os.WriteFile(filepath.Join(lib.Dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if written := hash(nil); overlaid != written || overlaid == before {
		t.Errorf("hash = %s, want that of the files, %s, and not that of the tree before, %s",
			overlaid, written, before)
	}
}

func TestAddWith(t *testing.T) {
	root, proxy := tree(t), t.TempDir()
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	mod := "module github.com/plinthgo/plinth/lib\n\ngo 1.24.0\n"
	if err := modproxy.AddWith(t.Context(), proxy, modules[0], "v0.2.0",
		modproxy.Overlay{"go.mod": []byte(mod)}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(proxy, "github.com", "plinthgo", "plinth", "lib", "@v")
	if got, err := os.ReadFile(filepath.Join(folder, "v0.2.0.mod")); err != nil ||
		string(got) != mod {
		t.Errorf("v0.2.0.mod = %q, %v", got, err)
	}
	if got := packed(t, filepath.Join(folder, "v0.2.0.zip")); !slices.Contains(got,
		"github.com/plinthgo/plinth/lib@v0.2.0/go.mod") {
		t.Errorf("files = %q", got)
	}
}
