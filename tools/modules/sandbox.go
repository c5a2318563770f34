package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// A sandbox is a temporary folder with a proxy of the working tree, in which the go command runs
// outside the workspace.
type sandbox struct {
	dir     string
	proxies string // GOPROXY
}

// within runs do in a sandbox and removes it.
func within(ctx context.Context, modules []workspace.Module, do func(*sandbox) error) error {
	dir, err := os.MkdirTemp("", "plinth-modules-")
	if err != nil {
		return err
	}
	s := &sandbox{dir: dir}
	defer s.remove()
	proxy := filepath.Join(dir, "proxy")
	if err := publish(ctx, proxy, modules); err != nil {
		return err
	}
	settings, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	cache, rest, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	// What the shared cache has downloaded is a proxy itself, so that nothing is fetched twice.
	s.proxies = "file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download") + "," + rest
	return do(s)
}

// remove deletes the sandbox; it says so where it cannot.
func (s *sandbox) remove() {
	if err := os.RemoveAll(s.dir); err != nil {
		fmt.Fprintln(os.Stderr, "modules: remove the temporary folder:", err)
	}
}

// do runs the go command in folder, with cache as its module cache.
func (s *sandbox) do(ctx context.Context, folder, cache string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(),
		"GOWORK=off", "GOTOOLCHAIN=local", "GOPROXY="+s.proxies, "GOMODCACHE="+cache,
		"GONOSUMDB="+workspace.Root+"/*", "GOVCS=*:off",
		// -trimpath lets the build cache serve every module cache alike; without cgo what the footprint's programs were built
		// from is in it.
		"CGO_ENABLED=0",
		"GOFLAGS=-mod=mod -modcacherw -trimpath",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, workspace.Failed(out))
	}
	return nil
}

// tidy runs go mod tidy in the modules and leaves out the siblings' hashes, which
// change with every commit.
func (s *sandbox) tidy(ctx context.Context, modules []workspace.Module) error {
	for _, m := range modules {
		if err := s.do(ctx, m.Dir, filepath.Join(s.dir, "cache"), "mod", "tidy"); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		sums := filepath.Join(m.Dir, "go.sum")
		text, err := os.ReadFile(sums)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(sums, []byte(strangers(string(text))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// strangers returns the lines of a go.sum that are not of this repository's modules.
func strangers(sums string) string {
	var b strings.Builder
	for line := range strings.Lines(sums) {
		if !strings.HasPrefix(line, workspace.Root+"/") {
			b.WriteString(line)
		}
	}
	return b.String()
}
