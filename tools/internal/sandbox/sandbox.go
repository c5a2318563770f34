// Package sandbox runs the go command as on a consumer's machine: outside of the
// workspace, with a separate module cache, and with a module proxy of unpublished
// modules.
//
// It reads the shared module cache as a proxy and never writes to it, because the cache
// would retain unpublished versions.
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

// A Sandbox is a temporary directory with a proxy. Except for Publish and Close, its
// methods are safe for concurrent use.
type Sandbox struct {
	dir    string
	others string // the part of GOPROXY for third-party modules
}

// Open returns a sandbox with an empty proxy.
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
	// The download directory of the shared cache is a proxy, so that nothing is
	// downloaded twice.
	downloads := filepath.Join(cache, "cache", "download")
	return &Sandbox{dir: dir, others: "file://" + downloads + "," + rest}, nil
}

// Publish adds the working trees of released modules to the proxy, with their versions in
// go.work.
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
		return fmt.Errorf("remove the temporary directory: %w", err)
	}
	return nil
}

// Proxy returns the directory of the module proxy.
func (s *Sandbox) Proxy() string { return filepath.Join(s.dir, "proxy") }

// Path returns a path in the sandbox.
func (s *Sandbox) Path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// Cache returns the directory of a module cache, which is initially empty. It replaces
// slashes in name, so that caches are never nested.
func (s *Sandbox) Cache(name string) string {
	return s.Path("caches", strings.ReplaceAll(name, "/", "+"))
}

// Env returns the environment of a go command with the given module cache.
func (s *Sandbox) Env(cache string) []string {
	return append(os.Environ(),
		"GOWORK=off", "GOTOOLCHAIN=local",
		"GOPROXY=file://"+s.Proxy()+","+s.others, "GOMODCACHE="+cache,
		"GONOSUMDB="+workspace.Root+"/*", "GOVCS=*:off",
		// With -trimpath and without cgo, all module caches share the results in the
		// build cache.
		"CGO_ENABLED=0",
		"GOFLAGS=-mod=mod -modcacherw -trimpath",
	)
}

// Go runs the go command in a directory. The error contains its output.
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
