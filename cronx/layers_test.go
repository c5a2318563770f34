package cronx_test

import (
	"os/exec"
	"strings"
	"testing"
)

const repository = "github.com/plinthgo/plinth/"

// TestImports checks the direct and indirect imports of each package, without test
// imports.
func TestImports(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f",
		`{{.ImportPath}} {{join .Deps " "}}`, "./...")
	var problem strings.Builder
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, problem.String())
	}
	listed := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line) // the package and its imports
		listed++
		for _, path := range fields[1:] {
			rest, ours := strings.CutPrefix(path, repository)
			folder, _, _ := strings.Cut(rest, "/")
			if strings.HasPrefix(path, "github.com/gin-gonic/") ||
				strings.HasPrefix(path, "gorm.io/") ||
				ours && folder != "core" && folder != "cronx" {
				t.Errorf("%s imports %s", fields[0], path)
			}
		}
	}
	if listed < 3 {
		t.Errorf("go list returned %d packages, want at least 3", listed)
	}
}
