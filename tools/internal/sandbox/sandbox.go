// Package sandbox runs the go command as a stranger's machine would: outside the
// workspace, with a module cache of its own, and with a module proxy that has what this
// repository would publish.
//
// The shared module cache is read, as a proxy of what others have published, and never
// written to: it would keep the unpublished versions for ever.
package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/child"
	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// A Sandbox is a temporary folder with a proxy. Its methods may run side by side, but for
// Publish and Close.
type Sandbox struct {
	dir    string
	others string // the part of GOPROXY that has other people's modules
}

// Open makes a sandbox whose proxy has none of our modules yet.
func Open(ctx context.Context) (*Sandbox, error) {
	settings, err := exec.CommandContext(ctx, "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir, err := os.MkdirTemp("", "plinth-sandbox-")
	if err != nil {
		return nil, err
	}
	cache, rest, _ := strings.Cut(strings.TrimSpace(string(settings)), "\n")
	// What the shared cache has downloaded is a proxy itself, so that nothing is fetched
	// twice.
	return &Sandbox{dir: dir, others: "file://" + filepath.Join(cache, "cache",
		"download") + "," + rest}, nil
}

// Publish puts the working trees of the modules that are released into the proxy, each as
// the version that it answers for.
func (s *Sandbox) Publish(ctx context.Context, modules ...workspace.Module) error {
	for _, m := range modules {
		if !m.Released() {
			continue
		}
		if err := modproxy.Add(ctx, s.Proxy(), m, m.Version); err != nil {
			return err
		}
	}
	return nil
}

// Close removes the sandbox.
func (s *Sandbox) Close() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("remove the temporary folder: %w", err)
	}
	return nil
}

// Proxy returns the folder of the module proxy.
func (s *Sandbox) Proxy() string { return filepath.Join(s.dir, "proxy") }

// Path returns the file or folder of that name in the sandbox.
func (s *Sandbox) Path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// Cache returns the folder of the module cache of that name, which begins empty. No
// module's name makes it lie inside another cache.
func (s *Sandbox) Cache(name string) string {
	return s.Path("caches", strings.ReplaceAll(name, "/", "+"))
}

// Env returns the environment of a go command with that module cache.
func (s *Sandbox) Env(cache string) []string {
	return append(os.Environ(),
		"GOWORK=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://"+s.Proxy()+","+s.others, "GOMODCACHE="+cache,
		"GONOSUMDB="+workspace.Root+"/*", "GOVCS=*:off",
		// -trimpath lets the build cache serve every module cache alike; without cgo what
		// the footprint's programs were built from is in it.
		"CGO_ENABLED=0",
		"GOFLAGS=-mod=mod -modcacherw -trimpath",
	)
}

// Go runs the go command in a folder, with that module cache. The error holds what it
// printed.
func (s *Sandbox) Go(ctx context.Context, folder, cache string, args ...string) error {
	cmd := child.Group(ctx, "go", args...)
	cmd.Dir, cmd.Env = folder, s.Env(cache)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s%s",
			strings.Join(args, " "), err, out, workspace.Failed(out))
	}
	return nil
}
