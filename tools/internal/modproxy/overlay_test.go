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
	root := newRepo(t)
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	lib := modules[0]
	overlay := modproxy.Overlay{
		"lib.go": []byte("package lib\n\nconst New = 1\n"),
		"go.sum": []byte("x\n"),
	}
	hash := func(overlay modproxy.Overlay) string {
		t.Helper()
		h, err := modproxy.Hash(func(w io.Writer) error {
			return modproxy.PackWith(t.Context(), w, lib, "v0.1.0", overlay)
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	overlaid, before := hash(overlay), hash(nil)
	for name, text := range overlay {
		if err := os.WriteFile(filepath.Join(lib.Dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if written := hash(nil); overlaid != written || overlaid == before {
		t.Errorf("hash = %s, want the hash of the files, %s, and not of the unchanged tree, %s",
			overlaid, written, before)
	}
}

func TestAddWith(t *testing.T) {
	root, proxy := newRepo(t), t.TempDir()
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	mod := "module github.com/plinthgo/plinth/lib\n\ngo 1.24.0\n"
	overlay := modproxy.Overlay{"go.mod": []byte(mod)}
	if err := modproxy.AddWith(t.Context(), proxy, modules[0], "v0.2.0", overlay); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(proxy, "github.com", "plinthgo", "plinth", "lib", "@v")
	if got, err := os.ReadFile(filepath.Join(folder, "v0.2.0.mod")); err != nil ||
		string(got) != mod {
		t.Errorf("v0.2.0.mod = %q, %v", got, err)
	}
	got := filesOf(t, filepath.Join(folder, "v0.2.0.zip"))
	if !slices.Contains(got, "github.com/plinthgo/plinth/lib@v0.2.0/go.mod") {
		t.Errorf("files = %q", got)
	}
}
