// Package modproxy creates a file-system module proxy from the working tree and its tags,
// so that the modules of this repository can resolve each other before they are
// published.
//
// The layout is that of the GOPROXY protocol (https://go.dev/ref/mod#goproxy-protocol).
// Zips equal those of the public proxy, so their hashes equal those of go.sum after
// publication.
package modproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	modzip "golang.org/x/mod/zip"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// Add publishes the working tree of a module as version in the proxy at dir.
func Add(ctx context.Context, dir string, m workspace.Module, version string) error {
	return AddWith(ctx, dir, m, version, nil)
}

// AddTag publishes a tag of a module. The tag need not be checked out.
func AddTag(ctx context.Context, dir, root string, m workspace.Module, version string) error {
	mod, err := FileAt(ctx, root, m.Tag(version), path.Join(m.Name, "go.mod"))
	if err != nil {
		return err
	}
	return add(dir, module.Version{Path: m.Path(), Version: version}, mod, func(w io.Writer) error {
		return PackTag(w, root, m, version)
	})
}

// Pack writes the zip of the working tree of a module.
func Pack(ctx context.Context, w io.Writer, m workspace.Module, version string) error {
	return PackWith(ctx, w, m, version, nil)
}

// PackTag writes the zip of a tag of a module.
func PackTag(w io.Writer, root string, m workspace.Module, version string) error {
	id := module.Version{Path: m.Path(), Version: version}
	if err := modzip.CreateFromVCS(w, id, root, m.Tag(version), m.Name); err != nil {
		return fmt.Errorf("pack %s: %w", id, err)
	}
	return nil
}

// Hash returns the h1 hash of the zip that pack writes, in the format of go.sum.
func Hash(pack func(io.Writer) error) (string, error) {
	file, err := os.CreateTemp("", "plinth-*.zip")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err := errors.Join(pack(file), file.Close()); err != nil {
		return "", err
	}
	return dirhash.HashZip(file.Name(), dirhash.Hash1)
}

// HashMod returns the h1 hash of a go.mod, in the format of go.sum.
func HashMod(text []byte) (string, error) {
	return dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text)), nil
	})
}

// FileAt returns a file of a revision. The name is relative to the root, with slashes.
func FileAt(ctx context.Context, root, revision, name string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", root, "show", revision+":"+name)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("read %s of %s: %w: %s",
			name, revision, err, strings.TrimSpace(problem.String()))
	}
	return out, nil
}

// add adds a version to the proxy at dir.
func add(dir string, id module.Version, mod []byte, pack func(io.Writer) error) error {
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
	info, err := json.Marshal(map[string]any{"Version": id.Version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		id.Version + ".mod":  mod,
		id.Version + ".info": info,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	if err := addToList(filepath.Join(folder, "list"), id.Version); err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(folder, id.Version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(pack(out), out.Close())
}

// addToList adds a version to the list of the proxy.
func addToList(name, version string) error {
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	versions := append(strings.Fields(string(data)), version)
	slices.SortFunc(versions, semver.Compare)
	return os.WriteFile(name, []byte(strings.Join(slices.Compact(versions), "\n")+"\n"), 0o600)
}

// file is a file of a module. It implements zip.File.
type file struct{ dir, name string }

// Path implements zip.File.
func (f file) Path() string { return f.name }

// Lstat implements zip.File.
func (f file) Lstat() (os.FileInfo, error) { return os.Lstat(f.full()) }

// Open implements zip.File.
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.full()) }

func (f file) full() string { return filepath.Join(f.dir, filepath.FromSlash(f.name)) }
