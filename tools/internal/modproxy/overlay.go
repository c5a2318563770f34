package modproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// An Overlay maps names of files in a module to their content, which replaces the content
// of the working tree. The files need not exist.
type Overlay map[string][]byte

// Read returns a file of the overlay or the working tree. It returns nil if the file does
// not exist.
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

// AddWith is like Add, with the files of the overlay.
func AddWith(
	ctx context.Context, dir string, m workspace.Module, version string, overlay Overlay,
) error {
	mod, err := overlay.Read(m, "go.mod")
	if err != nil {
		return err
	}
	return add(dir, module.Version{Path: m.Path(), Version: version}, mod, func(w io.Writer) error {
		return PackWith(ctx, w, m, version, overlay)
	})
}

// PackWith is like Pack, with the files of the overlay.
func PackWith(
	ctx context.Context, w io.Writer, m workspace.Module, version string, overlay Overlay,
) (err error) {
	names, err := workspace.Files(ctx, m.Dir)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "plinth-overlay-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var files []modzip.File // modzip.Create omits files of nested modules
	for _, name := range names {
		if _, replaced := overlay[name]; !replaced {
			files = append(files, file{dir: m.Dir, name: name})
		}
	}
	for name, text := range overlay {
		f := file{dir: dir, name: name}
		if err := errors.Join(os.MkdirAll(filepath.Dir(f.full()), 0o750),
			os.WriteFile(f.full(), text, 0o600)); err != nil {
			return err
		}
		files = append(files, f)
	}
	id := module.Version{Path: m.Path(), Version: version}
	if err := modzip.Create(w, id, files); err != nil {
		return fmt.Errorf("pack %s: %w", id, err)
	}
	return nil
}
