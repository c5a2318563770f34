package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// modules writes modules with their requirements, and a go.work with those lines, and
// reads them.
func modules(t *testing.T, work string, requires ...string) []workspace.Module {
	t.Helper()
	root, names := t.TempDir(), []string{}
	files := map[string]string{"go.work": "go 1.26.0\n" + work}
	for _, line := range requires {
		name, needs, _ := strings.Cut(line, ":")
		text := "module " + workspace.Root + "/" + name + "\n\ngo 1.26.0\n"
		for need := range strings.FieldsSeq(needs) {
			text += "require " + workspace.Root + "/" + need + " v0.1.0\n"
		}
		files[name+"/go.mod"] = text
		names = append(names, name)
	}
	files["modules.txt"] = strings.Join(names, "\n")
	for _, name := range names {
		if !strings.Contains(work, "/"+name+" v") && name != "examples" {
			files["go.work"] += "replace " + workspace.Root + "/" + name + " v0.1.0 => ./" + name +
				"\n"
		}
	}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestInOrder(t *testing.T) {
	t.Run("sorts modules after their requirements", func(t *testing.T) {
		sorted, err := workspace.InOrder(modules(t, "", "a:b c", "b:c", "c:", "d:a"))
		var names []string
		for _, m := range sorted {
			names = append(names, m.Name)
		}
		if got, want := strings.Join(names, " "), "c b a d"; got != want || err != nil {
			t.Errorf("InOrder = %s, %v; want %s", got, err, want)
		}
	})

	t.Run("reports a cycle", func(t *testing.T) {
		if _, err := workspace.InOrder(modules(t, "", "a:b", "b:c", "c:b")); err == nil ||
			!strings.Contains(err.Error(), "b -> c -> b") {
			t.Errorf("InOrder = %v, want the cycle", err)
		}
	})
}

func TestModules(t *testing.T) {
	t.Run("returns the newest version of go.work", func(t *testing.T) {
		const work = "replace github.com/plinthgo/plinth/a v0.10.0 => ./a\nreplace github.com/plinthgo/plinth/a v0.9.0 => ./a\n"
		found := modules(t, work, "a:", "examples:")
		if found[0].Version != "v0.10.0" || found[1].Released() {
			t.Errorf("versions = %q and %q, want v0.10.0 and none", found[0].Version, found[1].Version)
		}
	})

	t.Run("requires a version of released modules", func(t *testing.T) {
		root := t.TempDir()
		for name, text := range map[string]string{
			"modules.txt": "a\n", "go.work": "go 1.26.0\n\nreplace github.com/plinthgo/plinth/a => ./a\n", "a/go.mod": "module github.com/plinthgo/plinth/a\n",
		} {
			if err := os.MkdirAll(filepath.Join(root, "a"), 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		const want = "a has no version in go.work: add the replace `github.com/plinthgo/plinth/a v0.1.0 => ./a`"
		if _, err := workspace.Modules(root); err == nil || err.Error() != want {
			t.Errorf("Modules = %v, want %s", err, want)
		}
	})
}
