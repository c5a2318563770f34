package workspace_test

import (
	"testing"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

func TestFailed(t *testing.T) {
	const output = "=== RUN TestA\n--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b (0.00s)\n{\"msg\":\"--- FAIL: no\"}\nFAIL\n"
	const want = "--- FAIL: TestA (0.01s)\n    --- FAIL: TestA/b (0.00s)\n"
	if got := workspace.Failed([]byte(output)); got != want {
		t.Errorf("Failed = %q, want %q", got, want)
	}
}
