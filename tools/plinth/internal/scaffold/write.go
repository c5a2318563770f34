package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Paths returns the paths of the files, sorted.
func (f Files) Paths() []string { return slices.Sorted(maps.Keys(f)) }

// Create writes the files of a new service into a folder, all or none. The folder is not there, or has nothing in it but
// .git.
func Create(dir string, files Files) error {
	entries, err := os.ReadDir(dir)
	exists := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look into the folder: %w", err)
	case slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != ".git" }):
		return fmt.Errorf("%s is not empty", dir)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o755); err != nil { //nolint:gosec // a folder of sources
		return err
	}
	made, err := os.MkdirTemp(parent, ".plinth-new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(made) }()
	if err := writeAll(made, files); err != nil {
		return err
	}
	if exists {
		return moveInto(dir, made)
	}
	if err := os.Chmod(made, 0o755); err != nil { //nolint:gosec // as above
		return err
	}
	return os.Rename(made, dir)
}

func writeAll(dir string, files Files) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a folder of sources
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// moveInto moves what is in one folder into another, or takes back what it has moved.
func moveInto(dir, made string) error {
	entries, err := os.ReadDir(made)
	if err != nil {
		return err
	}
	var moved []string
	for _, e := range entries {
		target := filepath.Join(dir, e.Name())
		if err := os.Rename(filepath.Join(made, e.Name()), target); err != nil {
			for _, path := range moved {
				err = errors.Join(err, os.RemoveAll(path))
			}
			return err
		}
		moved = append(moved, target)
	}
	return nil
}
