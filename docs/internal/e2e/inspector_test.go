package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/conformance/testnode"
)

// inspect runs the protocol's inspector against a server.
func inspect(
	t *testing.T, programs *testnode.Programs, s *server, args ...string,
) (out, problems string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	script := programs.Path(".bin", "mcp-inspector")
	cmd := programs.Command(ctx,
		append([]string{script, "--cli", s.endpoint(), "--transport", "http"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Dir = t.TempDir()
	if err := cmd.Run(); err != nil {
		t.Fatalf("inspector: %v\n%s%s", err, &stdout, &stderr)
	}
	return stdout.String(), stderr.String()
}

func TestInspector(t *testing.T) {
	programs, r := needNode(t)
	s := start(t, binary(t))
	out, problems := inspect(t, programs, s, "--method", "tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Tools) != 4 {
		t.Errorf("tools = %v, %v; want four\n%s", list.Tools, err, out)
	}
	if strings.TrimSpace(problems) != "" {
		t.Errorf("inspector warnings:\n%s", problems)
	}
	out, _ = inspect(t, programs, s, "--method", "tools/call", "--tool-name", "search",
		"--tool-arg", "query=缓存")
	if !strings.Contains(out, `"totalResults"`) {
		t.Errorf("search = %s", out)
	}
	note(r, "inspector: strict listing without a warning")
}
