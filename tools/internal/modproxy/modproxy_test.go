package modproxy_test

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// tree makes a repository of two modules, one inside the other's folder.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"modules.txt":        "lib\n",
		"lib/go.mod":         "module github.com/plinthgo/plinth/lib\n\ngo 1.25.0\n",
		"lib/lib.go":         "package lib\n",
		"lib/LICENSE":        "Apache License\n",
		"lib/.gitignore":     "ignored.txt\n",
		"lib/ignored.txt":    "x\n",
		"lib/nested/go.mod":  "module github.com/plinthgo/plinth/lib/nested\n\ngo 1.25.0\n",
		"lib/nested/code.go": "package nested\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Skipf("git: %v\n%s", err, out)
	}
	return dir
}

func TestZipHoldsWhatTheModuleOwns(t *testing.T) {
	root, proxy := tree(t), t.TempDir()
	modules, err := workspace.Modules(root)
	if err != nil || len(modules) != 1 {
		t.Fatalf("Modules = %v, %v; want one", modules, err)
	}
	if err := modproxy.Add(t.Context(), proxy, modules[0], "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(proxy, "github.com", "plinthgo", "plinth", "lib", "@v")
	for name, want := range map[string]string{
		"list":        "v0.1.0\n",
		"v0.1.0.mod":  "module github.com/plinthgo/plinth/lib\n\ngo 1.25.0\n",
		"v0.1.0.info": `{"Time":"1970-01-01T00:00:00Z","Version":"v0.1.0"}`,
	} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v; want %q", name, got, err, want)
		}
	}
	archive, err := zip.OpenReader(filepath.Join(folder, "v0.1.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	var got []string
	for _, f := range archive.File {
		got = append(got, f.Name)
	}
	const prefix = "github.com/plinthgo/plinth/lib@v0.1.0/"
	want := []string{prefix + ".gitignore", prefix + "LICENSE", prefix + "go.mod", prefix + "lib.go"}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
}

func TestBadVersionIsRefused(t *testing.T) {
	file, err := modfile.Parse("go.mod", []byte("module github.com/plinthgo/plinth/lib\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := modproxy.Add(t.Context(), t.TempDir(), workspace.Module{Dir: t.TempDir(), File: file}, "v2.0.0"); err == nil {
		t.Error("a version of another major was accepted")
	}
}
