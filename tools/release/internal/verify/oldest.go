package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/child"
)

// oldest builds the packages, and all that they import, with the oldest Go that is supported. It builds without optimizing and
// links nothing: what an older Go refuses, it refuses before that.
func (v *verifier) oldest(ctx context.Context, folder string, packages []string) error {
	if runtime.Version() == "go"+goVersion {
		return nil
	}
	root, err := toolchain(ctx)
	if err != nil {
		if os.Getenv("CI") == "true" {
			return fmt.Errorf("the oldest Go that is supported: %w", err)
		}
		fmt.Fprintf(v.Out, "*** NOT TRIED WITH GO %s, WHICH IS PROMISED: it cannot be obtained: %v ***\n", goVersion, err)
		return nil
	}
	cmd := child.Group(ctx, filepath.Join(root, "bin", "go"), append([]string{"build", "-mod=readonly", "-gcflags=all=-N -l"}, packages...)...)
	cmd.Dir, cmd.Env = folder, append(v.stage.Env(v.stage.Cache(shared)), "GOROOT="+root)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("with Go %s, the oldest that is supported: %w\n%s", goVersion, err, out)
	}
	return nil
}

// toolchain returns the root of the oldest Go, which comes through the module proxy into the shared module cache.
func toolchain(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOTOOLCHAIN=go"+goVersion, "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}
