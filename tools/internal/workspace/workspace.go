// Package workspace finds the repository and its modules.
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
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Root is the import path of the root directory.
const Root = "github.com/plinthgo/plinth"

const (
	// list is the file with the names of all modules.
	list = "modules.txt"
	// work is the file whose replace directives contain the versions of the working tree.
	work = "go.work"
)

// unreleased are modules without releases. All other modules need a version in go.work.
var unreleased = []string{"examples", "tools"}

// A Module is a module of the working tree.
type Module struct {
	Name string // directory relative to the root, with slashes
	Dir  string // absolute directory
	// Version is the newest version in go.work, or "" if the module has no releases.
	Version string
	File    *modfile.File
}

// Path returns the import path of the module.
func (m Module) Path() string { return m.File.Module.Mod.Path }

// Released reports whether the module has releases.
func (m Module) Released() bool { return m.Version != "" }

// Siblings returns the required modules of this repository.
func (m Module) Siblings() []module.Version {
	var siblings []module.Version
	for _, r := range m.File.Require {
		if strings.HasPrefix(r.Mod.Path, Root+"/") {
			siblings = append(siblings, r.Mod)
		}
	}
	return siblings
}

// Find returns the root of the working tree that contains the current directory.
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
			return "", fmt.Errorf("no %s in this directory or its parents: run this inside the repository", list)
		}
		dir = up
	}
}

// Modules reads the list of modules, their go.mod files, and their versions in go.work.
func Modules(root string) ([]Module, error) {
	data, err := os.ReadFile(filepath.Join(root, list))
	if err != nil {
		return nil, err
	}
	versions, err := versions(root)
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
		importPath := parsed.Module.Mod.Path
		if versions[importPath] == "" && !slices.Contains(unreleased, name) {
			return nil, fmt.Errorf("%s has no version in %s: add the replace `%s v0.1.0 => ./%s`",
				name, work, importPath, name)
		}
		modules = append(modules,
			Module{Name: name, Dir: dir, Version: versions[importPath], File: parsed})
	}
	return modules, nil
}

// versions returns the versions in go.work by import path. If a module has several, the
// newest is that of the working tree; other modules still require the older ones.
func versions(root string) (map[string]string, error) {
	name := filepath.Join(root, work)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, r := range file.Replace {
		if strings.HasPrefix(r.Old.Path, Root+"/") &&
			semver.Compare(r.Old.Version, versions[r.Old.Path]) > 0 {
			versions[r.Old.Path] = r.Old.Version
		}
	}
	return versions, nil
}

// Choose returns the named modules, or all modules if names is empty.
func Choose(modules []Module, names []string) ([]Module, error) {
	if len(names) == 0 {
		return modules, nil
	}
	var chosen []Module
	for _, name := range names {
		i := slices.IndexFunc(modules, func(m Module) bool { return m.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown module %q: not in %s", name, list)
		}
		chosen = append(chosen, modules[i])
	}
	return chosen, nil
}

// Files returns the files below dir that belong to the working tree: tracked, or
// untracked and not ignored. Paths are relative to dir, with slashes, sorted.
func Files(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "ls-files", "-z", "--cached", "--others",
		"--exclude-standard", ".")
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w: %s",
			dir, err, strings.TrimSpace(problem.String()))
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
