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
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// Root is the import path of the repository's root folder.
const Root = "github.com/plinthgo/plinth"

const (
	// list is the one list of modules.
	list = "modules.txt"
	// work says, in its replaces, under which version the working tree answers for each
	// module.
	work = "go.work"
)

// unreleased are the modules that are never published; every other one has a version in
// go.work.
var unreleased = []string{"examples", "tools"}

// A Module is one module of the working tree.
type Module struct {
	Name string // folder, relative to the root, with slashes
	Dir  string // absolute folder
	// that for which the tree answers, the newest of go.work's replaces; "" where it is
	// never released
	Version string
	File    *modfile.File
}

// Path returns the module's import path.
func (m Module) Path() string { return m.File.Module.Mod.Path }

// Released reports whether the module is one that is published.
func (m Module) Released() bool { return m.Version != "" }

// Siblings returns what the module requires of this repository.
func (m Module) Siblings() []module.Version {
	var siblings []module.Version
	for _, r := range m.File.Require {
		if strings.HasPrefix(r.Mod.Path, Root+"/") {
			siblings = append(siblings, r.Mod)
		}
	}
	return siblings
}

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

// Modules reads the list of modules, each one's go.mod, and its version from go.work.
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

// versions reads the replaces of go.work: import path to version. Where there are several
// of a module, the tree answers for the newest; the others are what modules still require
// that need not follow.
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
