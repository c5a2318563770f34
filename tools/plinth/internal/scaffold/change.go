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

// A Change is one file of a service that becomes another.
type Change struct {
	// Path is relative to the service's folder, with slashes.
	Path string
	// What says in words what happens to the file.
	What     string
	old, new []byte // old is nil where the file is new
}

// Created reports whether the file is new.
func (c Change) Created() bool { return c.old == nil }

// Text returns what the file becomes.
func (c Change) Text() []byte { return c.new }

// Changes are what is done to a service, in the order of their paths.
type Changes []Change

// plan collects changes. Several to one file are one.
type plan struct {
	root    string
	changes map[string]*Change
}

func newPlan(root string) *plan { return &plan{root: root, changes: map[string]*Change{}} }

// read returns a file as it will be; nil where it is not there.
func (p *plan) read(name string) ([]byte, error) {
	if c, ok := p.changes[name]; ok {
		return c.new, nil
	}
	text, err := os.ReadFile(filepath.Join(p.root, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// write notes what a file becomes; the same text is no change.
func (p *plan) write(name, what string, text []byte) error {
	old, err := p.read(name)
	if err != nil {
		return err
	}
	if old != nil && bytes.Equal(old, text) {
		return nil
	}
	if c, ok := p.changes[name]; ok {
		c.new, c.What = text, c.What+", "+what
		return nil
	}
	p.changes[name] = &Change{Path: name, What: what, old: old, new: text}
	return nil
}

// create notes new files. One that is there is refused.
func (p *plan) create(files Files) error {
	var there []error
	for _, name := range files.Paths() {
		old, err := p.read(name)
		if err != nil {
			return err
		}
		if old != nil {
			there = append(there, fmt.Errorf("%s is there already, and nothing is overwritten", name))
			continue
		}
		p.changes[name] = &Change{Path: name, What: "new", new: files[name]}
	}
	return errors.Join(there...)
}

func (p *plan) list() Changes {
	var list Changes
	for _, c := range p.changes {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// Apply carries changes out in the service at root, all or none: where one fails, the others are taken back.
func Apply(root string, changes Changes) error {
	for i, c := range changes {
		if err := put(root, c.Path, c.new); err != nil {
			for _, done := range changes[:i] {
				err = errors.Join(err, restore(root, done))
			}
			return fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return nil
}

// put replaces a file in one step.
func put(root, name string, text []byte) error {
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of sources
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	made, err := os.CreateTemp(filepath.Dir(path), ".plinth-*")
	if err != nil {
		return err
	}
	_, err = made.Write(text)
	err = errors.Join(err, made.Chmod(mode), made.Close())
	if err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		_ = os.Remove(made.Name())
	}
	return err
}

func restore(root string, c Change) error {
	if c.Created() {
		return os.Remove(filepath.Join(root, filepath.FromSlash(c.Path)))
	}
	return put(root, c.Path, c.old)
}
