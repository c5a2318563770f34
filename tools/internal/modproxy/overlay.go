package modproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// An Overlay is what files of a module are to be, by their names within it, while the working tree is left alone. They need
// not exist there.
type Overlay map[string][]byte

// Read returns a file of the module as the overlay has it, or else as the working tree does; nil where neither has it.
func (o Overlay) Read(m workspace.Module, name string) ([]byte, error) {
	if text, ok := o[name]; ok {
		return text, nil
	}
	text, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// AddWith is Add with some files as the overlay has them.
func AddWith(ctx context.Context, dir string, m workspace.Module, version string, over Overlay) error {
	mod, err := over.Read(m, "go.mod")
	if err != nil {
		return err
	}
	return add(dir, module.Version{Path: m.Path(), Version: version}, mod, func(w io.Writer) error {
		return PackWith(ctx, w, m, version, over)
	})
}

// PackWith is Pack with some files as the overlay has them.
func PackWith(ctx context.Context, w io.Writer, m workspace.Module, version string, over Overlay) error {
	files, err := candidates(ctx, m.Dir)
	if err != nil {
		return err
	}
	files = slices.DeleteFunc(files, func(f modzip.File) bool {
		_, replaced := over[f.Path()]
		return replaced
	})
	for name, text := range over {
		files = append(files, written{name: name, text: text})
	}
	id := module.Version{Path: m.Path(), Version: version}
	if err := modzip.Create(w, id, files); err != nil {
		return fmt.Errorf("pack %s: %w", id, err)
	}
	return nil
}

// written is a file of an overlay; it implements zip.File and fs.FileInfo.
type written struct {
	name string
	text []byte
}

// Path implements zip.File.
func (f written) Path() string { return f.name }

// Lstat implements zip.File.
func (f written) Lstat() (os.FileInfo, error) { return f, nil }

// Open implements zip.File.
func (f written) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.text)), nil }

// Name implements fs.FileInfo.
func (f written) Name() string { return path.Base(f.name) }

// Size implements fs.FileInfo.
func (f written) Size() int64 { return int64(len(f.text)) }

// Mode implements fs.FileInfo.
func (f written) Mode() fs.FileMode { return 0o644 }

// ModTime implements fs.FileInfo.
func (f written) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (f written) IsDir() bool { return false }

// Sys implements fs.FileInfo.
func (f written) Sys() any { return nil }
