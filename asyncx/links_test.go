package asyncx_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLinks checks that background tasks and job workers do not depend on gin.
func TestLinks(t *testing.T) {
	for _, path := range []string{".", "./job", "./outbox"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		if deps := string(out); strings.Contains(deps, "gin-gonic") ||
			!strings.Contains(deps, "context\n") {
			t.Errorf("%s depends on gin, or the output of go list is incomplete:\n%s", path, deps)
		}
	}
}
