package scaffold

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Change is a new or changed file of a service.
type Change struct {
	// Path is relative to the service directory, with slashes.
	Path string `json:"path"`
	// New reports whether the file does not exist yet.
	New bool `json:"new"`
	// What describes the change.
	What string `json:"what"`

	old, text []byte
}

// plan collects changes and merges those of the same file.
type plan struct {
	root    string
	changes map[string]*Change
}

func newPlan(root string) *plan { return &plan{root: root, changes: map[string]*Change{}} }

// read returns the planned content of a file, or nil if it does not exist.
func (p *plan) read(name string) ([]byte, error) {
	if c, ok := p.changes[name]; ok {
		return c.text, nil
	}
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// write plans new content for a file. Equal content is not a change.
func (p *plan) write(name, what string, text []byte) error {
	old, err := p.read(name)
	switch c := p.changes[name]; {
	case err != nil || old != nil && bytes.Equal(old, text):
		return err
	case c != nil:
		c.text, c.What = text, c.What+", "+what
	default:
		p.changes[name] = &Change{Path: name, New: old == nil, What: what, old: old, text: text}
	}
	return nil
}

// create plans new files. It returns an error for each file that exists.
func (p *plan) create(files Files) error {
	var errs []error
	for _, name := range files.Paths() {
		old, err := p.read(name)
		if old != nil {
			err = fmt.Errorf("%s already exists", name)
		}
		errs = append(errs, err)
		p.changes[name] = &Change{Path: name, New: true, What: "new", text: files[name]}
	}
	return errors.Join(errs...)
}

func (p *plan) list() []Change {
	list := []Change{}
	for _, c := range p.changes {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// Create writes the files of a new service into dir. If it fails, it removes them. The
// directory must not exist, or be empty except for .git.
func Create(dir string, files Files) error {
	entries, err := os.ReadDir(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !isNew:
		return fmt.Errorf("read the directory: %w", err)
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != ".git" }):
		return fmt.Errorf("%s is not empty", dir)
	}
	p := newPlan(dir)
	if err := p.create(files); err != nil {
		return err
	}
	if err = Apply(dir, p.list()); err != nil && isNew {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Apply writes changes to the service at root. If one fails, it reverts the others.
func Apply(root string, changes []Change) error {
	for i, c := range changes {
		if err := WriteFile(root, c.Path, c.text); err != nil {
			for _, done := range changes[:i] {
				err = errors.Join(err, restore(root, done))
			}
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return nil
}

// WriteFile replaces a file below root atomically, and creates missing directories.
func WriteFile(root, name string, text []byte) error {
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a source directory
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".plinth-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// restore reverts a change. It also removes directories that become empty.
func restore(root string, c Change) error {
	if !c.New {
		return WriteFile(root, c.Path, c.old)
	}
	path := filepath.Join(root, filepath.FromSlash(c.Path))
	err := os.Remove(path)
	for dir := filepath.Dir(path); dir != filepath.Clean(root) && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
	return err
}
