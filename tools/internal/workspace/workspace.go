// Package workspace finds the repository and its modules for the project's own tools.
package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Root is the import path of the repository's root folder.
const Root = "github.com/plinthgo/plinth"

// NextVersion is the version under which the modules of the working tree require one another.
const NextVersion = "v0.1.0"

// list is the one list of modules.
const list = "modules.txt"

// A Module is one module of the working tree.
type Module struct {
	Name string // folder, relative to the root, with slashes
	Dir  string // absolute folder
	File *modfile.File
}

// Path returns the module's import path.
func (m Module) Path() string { return m.File.Module.Mod.Path }

// Find returns the root of the working tree that holds the current folder.
func Find() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, list)); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no %s here or above: run this inside the repository", list)
		}
		dir = up
	}
}

// Modules reads the list of modules and each one's go.mod.
func Modules(root string) ([]Module, error) {
	data, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		return nil, err
	}
	var modules []Module
	for name := range strings.FieldsSeq(string(data)) {
		dir := filepath.Join(root, filepath.FromSlash(name))
		file := filepath.Join(dir, "go.mod")
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		parsed, err := modfile.Parse(file, text, nil)
		if err != nil {
			return nil, err
		}
		modules = append(modules, Module{Name: name, Dir: dir, File: parsed})
	}
	return modules, nil
}

// Choose returns the modules with those names, or all where there are no names.
func Choose(modules []Module, names []string) ([]Module, error) {
	if len(names) == 0 {
		return modules, nil
	}
	var chosen []Module
	for _, name := range names {
		i := slices.IndexFunc(modules, func(m Module) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no module %q in %s", name, list)
		}
		chosen = append(chosen, modules[i])
	}
	return chosen, nil
}

// Files returns the files below dir that belong to the working tree: tracked, or untracked and not
// ignored. Paths are relative to dir, with slashes, sorted.
func Files(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard", ".")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w: %s", dir, err, strings.TrimSpace(problem.String()))
	}
	var files []string
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, os.ErrNotExist) { // deleted, not yet committed
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
