package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestTags(t *testing.T) {
	for _, tc := range []struct {
		name, changelog string
		shallow, fails  bool
	}{
		{name: "no release", changelog: "# Changelog\n"},
		{
			name:      "first release is prepared",
			changelog: "## core v0.1.0 - 2026-01-31\n\n## sqlite v0.1.0 - 2026-01-31\n",
		},
		{
			name:      "two releases",
			changelog: "## core v0.1.1 - 2026-02-01\n\n## core v0.1.0 - 2026-01-31\n", fails: true,
		},
		{
			name: "shallow clone of a release", changelog: "## core v0.1.0 - 2026-01-31\n",
			shallow: true, fails: true,
		},
		{name: "shallow clone without a release", changelog: "# Changelog\n", shallow: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			git(t, "init", "-q", root)
			file := filepath.Join(root, "CHANGELOG.md")
			if err := os.WriteFile(file, []byte(tc.changelog), 0o600); err != nil {
				t.Fatal(err)
			}
			git(t, "-C", root, "add", ".")
			for range 2 {
				git(t, "-C", root, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit",
					"-q", "--allow-empty", "-m", "x")
			}
			if tc.shallow {
				from := root
				root = t.TempDir()
				git(t, "clone", "-q", "--depth=1", "file://"+from, root)
			}
			if _, err := workspace.Tags(t.Context(), root); (err != nil) != tc.fails || tc.fails &&
				!strings.Contains(err.Error(), "git fetch --tags") {
				t.Errorf("Tags = %v, want an error: %t", err, tc.fails)
			}
		})
	}
}

func git(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}
