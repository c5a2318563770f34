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

// Module paths of Plinth.
const (
	Project      = "github.com/plinthgo/plinth/"
	Core         = Project + "core"
	DBPlugins    = Project + "dbplugins/"
	CachePlugins = Project + "cacheplugins/"
)

// Package is a package in the output of go list.
type Package struct {
	ImportPath, Dir, Name string
	GoFiles, CgoFiles     []string
	Deps                  []string // transitive
	DepOnly               bool
	Error                 *struct{ Err string }
	Module                *struct {
		Path, Version string
		Main          bool
	}
}

// Program is a main package of the service with its dependencies. A module without a main
// package has one Program with all packages.
type Program struct {
	// Folder is the directory of the package, relative to the root of the module.
	Folder string
	// Main is the directory of the main package, or "".
	Main string
	// Packages contains all packages by path, including the standard library.
	Packages map[string]*Package
}

// Package returns a linked package, or nil.
func (s *Service) Package(path string) *Package { return s.linked[path] }

// Links reports whether a program links the package.
func (s *Service) Links(path string) bool { return s.linked[path] != nil }

// Below returns the linked packages whose paths start with path, sorted.
func (s *Service) Below(path string) []string {
	all := slices.Sorted(maps.Keys(s.linked))
	return slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, path) })
}

// IsComplete reports whether all linked packages were found. It returns false if a module
// is not downloaded.
func (s *Service) IsComplete() bool {
	for _, p := range s.linked {
		if p.Error != nil {
			return false
		}
	}
	return true
}

// Mentions reports whether the packages of the service contain word.
func (s *Service) Mentions(word string) bool {
	for _, p := range s.linked {
		if s.owns(p) && p.contains(word) {
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

// Files returns the files that are compiled on this platform.
func (p *Package) Files() []string {
	var all []string
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		all = append(all, filepath.Join(p.Dir, name))
	}
	return all
}

func (p *Package) contains(word string) bool {
	for _, name := range p.Files() {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// readPrograms returns the program in the directory passed to Find. If that directory has
// none, it returns the programs below it, or else all programs of the module. It builds
// and downloads nothing.
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

// mainsOf returns the main package in folder, or else all main packages.
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

const allPackages = "./..."

// list returns the packages below folder and their dependencies.
func (s *Service) list(ctx context.Context, folder string) (map[string]*Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-e", "-deps",
		"-json=ImportPath,Dir,Name,GoFiles,CgoFiles,Deps,DepOnly,Module,Error", allPackages)
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
		if p.ImportPath == allPackages && p.Error != nil { // such as a go.work without this module
			return nil, fmt.Errorf("go list: %s", p.Error.Err)
		}
		all[p.ImportPath] = p
	}
}

// GoEnv returns variables that prevent the go command from changing the module and from
// downloading.
func (s *Service) GoEnv() []string {
	mode := "-mod=readonly"
	if _, err := os.Stat(filepath.Join(s.Root, "vendor", "modules.txt")); err == nil {
		mode = "-mod=vendor"
	}
	return []string{"GOPROXY=off", "GOFLAGS=" + strings.TrimSpace(os.Getenv("GOFLAGS")+" "+mode)}
}

// Build compiles a program into the file output. It downloads nothing.
func (s *Service) Build(ctx context.Context, program Program, output string) error {
	if !s.IsComplete() {
		return errors.New("imported packages are missing; run go mod download")
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", output, program.Main)
	cmd.Dir, cmd.Env = s.Root, append(os.Environ(), s.GoEnv()...)
	if _, err := cmd.Output(); err != nil {
		return withOutput("go build", err)
	}
	return nil
}

// rel returns path relative to the root of the module, with slashes.
func (s *Service) rel(path string) string {
	if short, err := filepath.Rel(s.Root, path); err == nil {
		return filepath.ToSlash(short)
	}
	return path
}

// Requires returns the version of a module in go.mod, or "".
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
