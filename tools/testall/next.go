package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// next prepares a run with another Go: -short, without servers and without the race
// detector. It reports false, in capitals, if the go command cannot obtain that version.
func next(ctx context.Context, version string) bool {
	cmd := exec.CommandContext(ctx, "go", "version")
	cmd.Dir, cmd.Env = os.TempDir(),
		append(os.Environ(), "GOTOOLCHAIN="+version, "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stdout, "*** NOT TESTED WITH %s: it cannot be obtained: %v: %s ***\n",
			strings.ToUpper(version), err, strings.TrimSpace(string(out)))
		return false
	}
	_, _ = os.Stdout.Write(out)
	return true
}

// nextEnv is the environment of such a run: no server is required or given.
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
