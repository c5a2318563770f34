package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// isAvailable reports whether a Go version is available. If not, it prints a line in
// capitals.
func isAvailable(ctx context.Context, version string) bool {
	cmd := exec.CommandContext(ctx, "go", "version")
	cmd.Dir, cmd.Env = os.TempDir(),
		append(os.Environ(), "GOTOOLCHAIN="+version, "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stdout, "*** NOT TESTED WITH %s: download failed: %v: %s ***\n",
			strings.ToUpper(version), err, strings.TrimSpace(string(out)))
		return false
	}
	_, _ = os.Stdout.Write(out)
	return true
}

// nextEnv returns environ with the given Go version and without test servers.
func nextEnv(version string, environ []string) []string {
	env := []string{"GOTOOLCHAIN=" + version}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if name != "GOTOOLCHAIN" && !strings.HasPrefix(name, "PLINTH_TEST_") {
			env = append(env, entry)
		}
	}
	return env
}
