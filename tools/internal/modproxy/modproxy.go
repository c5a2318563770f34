// Package modproxy builds a file-system module proxy from the working tree, so that the modules of
// this repository can resolve one another before they are published.
//
// The layout is that of the GOPROXY protocol (https://go.dev/ref/mod#goproxy-protocol); each zip holds
// what the public proxy would pack.
package modproxy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// Add publishes the module's working tree as version into the proxy at dir.
func Add(ctx context.Context, dir string, m workspace.Module, version string) error {
	id := module.Version{Path: m.Path(), Version: version}
	if err := module.Check(id.Path, id.Version); err != nil {
		return err
	}
	escaped, err := module.EscapePath(id.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(dir, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(m.Dir, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{version + ".mod": mod, version + ".info": info, "list": []byte(version + "\n")} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	return pack(ctx, filepath.Join(folder, version+".zip"), id, m.Dir)
}

// pack writes the module's zip.
func pack(ctx context.Context, name string, id module.Version, dir string) error {
	files, err := candidates(ctx, dir)
	if err != nil {
		return err
	}
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := modzip.Create(out, id, files); err != nil {
		_ = out.Close()
		return fmt.Errorf("pack %s: %w", id, err)
	}
	return out.Close()
}

// candidates returns the files below dir; those of modules nested in it are left out by the packer.
func candidates(ctx context.Context, dir string) ([]modzip.File, error) {
	names, err := workspace.Files(ctx, dir)
	if err != nil {
		return nil, err
	}
	files := make([]modzip.File, len(names))
	for i, name := range names {
		files[i] = file{dir: dir, name: name}
	}
	return files, nil
}

// file is one file of a module; it implements zip.File.
type file struct{ dir, name string }

// Path implements zip.File.
func (f file) Path() string { return f.name }

// Lstat implements zip.File.
func (f file) Lstat() (os.FileInfo, error) { return os.Lstat(f.full()) }

// Open implements zip.File.
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.full()) }

func (f file) full() string { return filepath.Join(f.dir, filepath.FromSlash(f.name)) }
