package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Modules of the project.
const (
	Project      = "github.com/plinthgo/plinth/"
	Core         = Project + "core"
	DBPlugins    = Project + "dbplugins/"
	CachePlugins = Project + "cacheplugins/"
)

// Package is a package that a program is made of, as go list names it.
type Package struct {
	ImportPath, Dir, Name string
	GoFiles, CgoFiles     []string
	Deps                  []string // of itself and of what it imports
	DepOnly               bool
	Error                 *struct{ Err string }
	Module                *struct {
		Path, Version string
		Main          bool
	}
}

// Program is a main package of the service, with everything that it links. A module
// without any has one of all its packages.
type Program struct {
	// Folder is that of the package, from the root of the module.
	Folder string
	// Main is the folder of the main package, "" if there is none.
	Main string
	// Packages are in no order, the standard library among them.
	Packages map[string]*Package
}

// Package returns a package that one of the programs links, or nil.
func (s *Service) Package(path string) *Package { return s.linked[path] }

// Links reports whether a package is a part of one of the programs.
func (s *Service) Links(path string) bool { return s.linked[path] != nil }

// Below returns the packages below a path that the programs link, sorted.
func (s *Service) Below(path string) []string {
	all := slices.Sorted(maps.Keys(s.linked))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, path) })
}

// IsComplete reports whether everything that the programs link was found: not where a
// module is still to be downloaded.
func (s *Service) IsComplete() bool {
	for _, p := range s.linked {
		if p.Error != nil {
			return false
		}
	}
	return true
}

// Mentions reports whether the code of the service's own packages holds the word.
func (s *Service) Mentions(word string) bool {
	for _, p := range s.linked {
		if s.owns(p) && p.holds(word) {
			return true
		}
	}
	return false
}

// owns reports whether a package belongs to the module of the service.
func (s *Service) owns(p *Package) bool {
	return p.Module != nil && p.Module.Main && s.Module != nil &&
		p.Module.Path == s.Module.Module.Mod.Path
}

// Files are those of the package that are compiled on this machine.
func (p *Package) Files() []string {
	var all []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		all = append(all, filepath.Join(p.Dir, name))
	}
	return all
}

func (p *Package) holds(word string) bool {
	for _, name := range p.Files() {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// readPrograms asks the go command what the programs are made of: the one in the folder
// that was asked for, else those below it, else those of the module. Nothing is built and
// nothing downloaded.
func (s *Service) readPrograms(ctx context.Context) ([]Program, error) {
	all, err := s.list(ctx, s.from)
	if err != nil {
		return nil, err
	}
	mains := mainsOf(all, s.from)
	if len(mains) == 0 && s.from != s.Root {
		if all, err = s.list(ctx, s.Root); err != nil {
			return nil, err
		}
		mains = mainsOf(all, s.Root)
	}
	s.linked = map[string]*Package{}
	if len(mains) == 0 {
		s.linked = all
		return []Program{{Folder: ".", Packages: all}}, nil
	}
	programs := make([]Program, len(mains))
	for i, p := range mains {
		packages := map[string]*Package{p.ImportPath: p}
		for _, path := range p.Deps {
			if dependency := all[path]; dependency != nil {
				packages[path] = dependency
			}
		}
		maps.Copy(s.linked, packages)
		programs[i] = Program{Folder: s.rel(p.Dir), Main: p.Dir, Packages: packages}
	}
	return programs, nil
}

// mainsOf are the programs among the packages: only the one in that folder, where it has
// one.
func mainsOf(all map[string]*Package, folder string) (mains []*Package) {
	for _, p := range all {
		if p.Name != "main" || p.DepOnly {
			continue
		}
		if p.Dir == folder {
			return []*Package{p}
		}
		mains = append(mains, p)
	}
	return mains
}

// everything names the packages of a folder and those below it.
const everything = "./..."

// list returns the packages below a folder and what they import.
func (s *Service) list(ctx context.Context, folder string) (map[string]*Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps",
		"-json=ImportPath,Dir,Name,GoFiles,CgoFiles,Deps,DepOnly,Module,Error", everything)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), s.GoEnv()...)
	out, err := cmd.Output()
	if err != nil {
		return nil, withOutput("go list", err)
	}
	all := map[string]*Package{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &Package{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if p.ImportPath == everything && p.Error != nil { // such as a go.work without this module
			return nil, fmt.Errorf("go list: %s", p.Error.Err)
		}
		all[p.ImportPath] = p
	}
}

// GoEnv is the environment in which the go command may look at the service: it changes
// nothing there, and downloads nothing.
func (s *Service) GoEnv() []string {
	mode := "-mod=readonly"
	if _, err := os.Stat(filepath.Join(s.Root, "vendor", "modules.txt")); err == nil {
		mode = "-mod=vendor"
	}
	return []string{"GOPROXY=off", "GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" "+mode)}
}

// rel is a path from the root of the module, as people write it.
func (s *Service) rel(path string) string {
	if short, err := filepath.Rel(s.Root, path); err == nil {
		return filepath.ToSlash(short)
	}
	return path
}

// Requires returns the version of a module that go.mod asks for, "" where it does not.
func (s *Service) Requires(path string) string {
	if s.Module == nil {
		return ""
	}
	for _, r := range s.Module.Require {
		if r.Mod.Path == path {
			return r.Mod.Version
		}
	}
	return ""
}
