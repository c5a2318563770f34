package xvalid_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The validator calls reflect.Value.MethodByName. If that is reachable, the linker keeps
// all exported methods of the program.
func TestGinBinding_Footprint(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	binary := filepath.Join(t.TempDir(), "hello")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./testdata/hello")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	symbols, err := exec.CommandContext(t.Context(), "go", "tool", "nm", binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"validator/v10.New", "reflect.Value.MethodByName", "xvalid.newEngine",
	} {
		for line := range strings.Lines(string(symbols)) {
			if strings.HasSuffix(strings.TrimSpace(line), name) {
				t.Errorf("%s is linked", name)
			}
		}
	}
}
