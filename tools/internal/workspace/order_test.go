package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// modules writes modules with their requirements, and a go.work with those lines, and reads them.
func modules(t *testing.T, work string, requires ...string) []workspace.Module {
	t.Helper()
	root, names := t.TempDir(), []string{}
	files := map[string]string{"go.work": "go 1.25.0\n" + work}
	for _, line := range requires {
		name, needs, _ := strings.Cut(line, ":")
		text := "module " + workspace.Root + "/" + name + "\n\ngo 1.25.0\n"
		for need := range strings.FieldsSeq(needs) {
			text += "require " + workspace.Root + "/" + need + " v0.1.0\n"
		}
		files[name+"/go.mod"] = text
		names = append(names, name)
	}
	files["modules.txt"] = strings.Join(names, "\n")
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

func TestModulesComeAfterWhatTheyRequire(t *testing.T) {
	sorted, err := workspace.InOrder(modules(t, "", "a:b c", "b:c", "c:", "d:a"))
	var names []string
	for _, m := range sorted {
		names = append(names, m.Name)
	}
	if got, want := strings.Join(names, " "), "c b a d"; got != want || err != nil {
		t.Errorf("InOrder = %s, %v; want %s", got, err, want)
	}
}

func TestCycleIsNamed(t *testing.T) {
	if _, err := workspace.InOrder(modules(t, "", "a:b", "b:c", "c:b")); err == nil || !strings.Contains(err.Error(), "b -> c -> b") {
		t.Errorf("InOrder = %v, want the cycle", err)
	}
}

func TestTreeAnswersForTheNewestVersionOfGoWork(t *testing.T) {
	const work = "replace github.com/plinthgo/plinth/a v0.10.0 => ./a\nreplace github.com/plinthgo/plinth/a v0.9.0 => ./a\n"
	found := modules(t, work, "a:", "b:")
	if found[0].Version != "v0.10.0" || found[1].Released() {
		t.Errorf("versions = %q and %q, want v0.10.0 and none", found[0].Version, found[1].Version)
	}
}
