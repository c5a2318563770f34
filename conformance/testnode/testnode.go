// Package testnode installs Node.js and its programs from the npm registry, once for each
// lock file, into the user's cache.
//
// package.json and package-lock.json of a directory list the packages. Install scripts of
// packages are not run.
package testnode

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// ErrMissing reports that npm is not installed.
var ErrMissing = errors.New("npm is missing; on Debian or Ubuntu: apt-get install npm")

// cacheName is the directory in the user's cache.
const cacheName = "plinth-npm"

// look returns an error that wraps ErrMissing if npm is missing.
func look() error {
	if _, err := exec.LookPath("npm"); err != nil {
		return fmt.Errorf("testnode: %w", ErrMissing)
	}
	return nil
}

// Programs are the installed packages of a lock file.
type Programs struct {
	dir     string
	version string
}

// Install installs the packages of the lock file in dir, unless they are installed.
// Several processes may call it concurrently. Canceling ctx aborts the download.
func Install(ctx context.Context, dir string) (*Programs, error) {
	if err := look(); err != nil {
		return nil, err
	}
	home, err := home(dir)
	if err != nil {
		return nil, fmt.Errorf("testnode: %w", err)
	}
	p := &Programs{dir: home}
	if _, err := os.Stat(home); err != nil {
		if err := install(ctx, dir, home); err != nil {
			return nil, fmt.Errorf("testnode: %w", err)
		}
	}
	out, err := p.Command(ctx, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("testnode: run the installation in %s: %w", home, err)
	}
	p.version = strings.TrimSpace(string(out))
	return p, nil
}

// files returns the names of the files that define an installation.
func files() []string { return []string{".npmrc", "package-lock.json", "package.json"} }

// home returns the directory of the installation. It differs by lock file and platform.
func home(dir string) (string, error) {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, runtime.GOOS, runtime.GOARCH)
	for _, name := range files() {
		data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a directory of the repository
		if err != nil {
			return "", err
		}
		_, _ = sum.Write(data)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, cacheName, hex.EncodeToString(sum.Sum(nil)[:8])), nil
}

// install fills a temporary directory next to home and renames it, so that home is always
// complete.
func install(ctx context.Context, dir, home string) (err error) {
	if err := os.MkdirAll(filepath.Dir(home), 0o750); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(home), "new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	for _, name := range files() {
		data, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // a directory of the repository
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(fresh, name), data, 0o600); err != nil { //nolint:gosec // the directory was created above
			return err
		}
	}
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--loglevel=error")
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, home); err != nil && !isFolder(home) { // another process was faster
		return err
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Version returns the version of Node.js, such as v22.23.3.
func (p *Programs) Version() string { return p.version }

// Modules returns the directory of the packages.
func (p *Programs) Modules() string { return filepath.Join(p.dir, "node_modules") }

// Path returns the path of a file in a package.
func (p *Programs) Path(elem ...string) string {
	return filepath.Join(append([]string{p.Modules()}, elem...)...)
}

// Command runs Node.js with these arguments, the first of which is a script. Programs
// that it starts find the same Node.js.
func (p *Programs) Command(ctx context.Context, args ...string) *exec.Cmd {
	bin := p.Path(".bin")
	name := filepath.Join(bin, "node")
	if _, err := os.Stat(name); err != nil {
		name = "node" // the installed program: the registry lacks this platform
	}
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // a program from the lock file
	env := slices.DeleteFunc(os.Environ(),
		func(s string) bool { return strings.HasPrefix(s, "PATH=") })
	for _, s := range os.Environ() {
		if path, ok := strings.CutPrefix(s, "PATH="); ok {
			env = append(env, "PATH="+bin+string(os.PathListSeparator)+path)
		}
	}
	cmd.Env = env
	return cmd
}
