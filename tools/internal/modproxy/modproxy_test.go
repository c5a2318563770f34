package modproxy_test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// newRepo creates a repository with a module nested in another.
func newRepo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"modules.txt":        "lib\nlib/nested\n",
		"go.work":            "go 1.26.0\n\nreplace (\n\tgithub.com/plinthgo/plinth/lib v0.1.0 => ./lib\n\tgithub.com/plinthgo/plinth/lib/nested v0.1.0 => ./lib/nested\n)\n",
		"lib/go.mod":         "module github.com/plinthgo/plinth/lib\n\ngo 1.26.0\n",
		"lib/lib.go":         "package lib\n",
		"lib/LICENSE":        "Apache License\n",
		"lib/.gitignore":     "ignored.txt\n",
		"lib/ignored.txt":    "x\n",
		"lib/nested/go.mod":  "module github.com/plinthgo/plinth/lib/nested\n\ngo 1.26.0\n",
		"lib/nested/code.go": "package nested\n",
		"lib/nested/LICENSE": "Apache License\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "-C", dir, "init", "-q")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("git: %v\n%s", err, out)
	}
	return dir
}

func TestPack(t *testing.T) {
	t.Run("contains the files of the module", func(t *testing.T) {
		folder := filepath.Join(newProxy(t), "github.com", "plinthgo", "plinth", "lib", "@v")
		for name, want := range map[string]string{
			"list":        "v0.1.0\n",
			"v0.1.0.mod":  "module github.com/plinthgo/plinth/lib\n\ngo 1.26.0\n",
			"v0.1.0.info": `{"Time":"1970-01-01T00:00:00Z","Version":"v0.1.0"}`,
		} {
			if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
				t.Errorf("%s = %q, %v; want %q", name, got, err, want)
			}
		}
		const prefix = "github.com/plinthgo/plinth/lib@v0.1.0/"
		want := []string{
			prefix + ".gitignore", prefix + "LICENSE", prefix + "go.mod", prefix + "lib.go",
		}
		if got := filesOf(t, filepath.Join(folder, "v0.1.0.zip")); !slices.Equal(got, want) {
			t.Errorf("files = %q, want %q", got, want)
		}
	})

	t.Run("omits nested modules", func(t *testing.T) {
		folder := filepath.Join(newProxy(t), "github.com", "plinthgo", "plinth", "lib", "nested", "@v")
		const prefix = "github.com/plinthgo/plinth/lib/nested@v0.1.0/"
		want := []string{prefix + "LICENSE", prefix + "code.go", prefix + "go.mod"}
		if got := filesOf(t, filepath.Join(folder, "v0.1.0.zip")); !slices.Equal(got, want) {
			t.Errorf("files = %q, want %q", got, want)
		}
	})
}

// TestAdd_NestedModule checks that no package is in two modules, which the go command
// rejects.
func TestAdd_NestedModule(t *testing.T) {
	proxy, app := newProxy(t), t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/app\n\ngo 1.26.0\n",
		"app.go": "package app\n\nimport (\n\t_ \"github.com/plinthgo/plinth/lib\"\n\t_ \"github.com/plinthgo/plinth/lib/nested\"\n)\n",
	} {
		if err := os.WriteFile(filepath.Join(app, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = app
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=-modcacherw",
			"GOSUMDB=off", "GOPROXY=file://"+filepath.ToSlash(proxy),
			"GOMODCACHE="+filepath.Join(t.TempDir(), "cache"))
		var problem strings.Builder
		cmd.Stderr = &problem
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %v: %v\n%s", args, err, problem.String())
		}
		return string(out)
	}
	command("mod", "tidy")
	const lib = "github.com/plinthgo/plinth/lib"
	want := lib + " " + lib + "\n" + lib + "/nested " + lib + "/nested\n"
	got := command("list", "-f", "{{.ImportPath}} {{.Module.Path}}", lib, lib+"/nested")
	if got != want {
		t.Errorf("packages and modules =\n%s\nwant\n%s", got, want)
	}
}

// newProxy creates a proxy with all modules of a new repository.
func newProxy(t *testing.T) string {
	t.Helper()
	root, proxy := newRepo(t), t.TempDir()
	modules, err := workspace.Modules(root)
	if err != nil || len(modules) != 2 {
		t.Fatalf("Modules = %v, %v; want two", modules, err)
	}
	for _, m := range modules {
		if err := modproxy.Add(t.Context(), proxy, m, "v0.1.0"); err != nil {
			t.Fatal(err)
		}
	}
	return proxy
}

func TestAdd(t *testing.T) {
	t.Run("lists all added versions", func(t *testing.T) {
		root, proxy := newRepo(t), t.TempDir()
		git(t, root, "add", ".")
		git(t, root, "commit", "-qm", "first")
		git(t, root, "tag", "lib/v0.1.0")
		changed := []byte("package lib\n\nconst New = 1\n")
		if err := os.WriteFile(filepath.Join(root, "lib", "lib.go"), changed, 0o600); err != nil {
			t.Fatal(err)
		}
		modules, err := workspace.Modules(root)
		if err != nil {
			t.Fatal(err)
		}
		lib := modules[0]
		if err := modproxy.Add(t.Context(), proxy, lib, "v0.2.0"); err != nil {
			t.Fatal(err)
		}
		if err := modproxy.AddTag(t.Context(), proxy, root, lib, "v0.1.0"); err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(proxy, "github.com", "plinthgo", "plinth", "lib", "@v")
		if got, err := os.ReadFile(filepath.Join(folder, "list")); err != nil ||
			string(got) != "v0.1.0\nv0.2.0\n" {
			t.Errorf("list = %q, %v", got, err)
		}
		tag, err := modproxy.Hash(func(w io.Writer) error {
			return modproxy.PackTag(w, root, lib, "v0.1.0")
		})
		if err != nil {
			t.Fatal(err)
		}
		tree, err := modproxy.Hash(func(w io.Writer) error {
			return modproxy.Pack(t.Context(), w, lib, "v0.1.0")
		})
		if err != nil {
			t.Fatal(err)
		}
		if tag == tree {
			t.Error("a changed file did not change the hash of the zip")
		}
		git(t, root, "checkout", "-q", "--", "lib/lib.go")
		if same, err := modproxy.Hash(func(w io.Writer) error {
			return modproxy.Pack(t.Context(), w, lib, "v0.1.0")
		}); err != nil || same != tag {
			t.Errorf("hash of the tree = %s, %v; want that of its tag, %s", same, err, tag)
		}
	})

	t.Run("rejects an invalid version", func(t *testing.T) {
		file, err := modfile.Parse("go.mod", []byte("module github.com/plinthgo/plinth/lib\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		m := workspace.Module{Dir: t.TempDir(), File: file}
		if err := modproxy.Add(t.Context(), t.TempDir(), m, "v2.0.0"); err == nil {
			t.Error("a version of another major was accepted")
		}
	})
}

// git runs git in the repository.
func git(t *testing.T, root string, args ...string) {
	t.Helper()
	args = append([]string{"-C", root, "-c", "user.name=t", "-c", "user.email=t@example.org"},
		args...)
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// filesOf lists the files of a zip, sorted.
func filesOf(t *testing.T, name string) []string {
	t.Helper()
	archive, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names
}
