package service

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Modules of the project.
const (
	Project      = "github.com/plinthgo/plinth/"
	Core         = Project + "core"
	DBPlugins    = Project + "dbplugins/"
	CachePlugins = Project + "cacheplugins/"
)

// Imports returns every path that the service's Go code imports, tests apart, sorted. Files that do not parse count as far
// as they do.
func (s *Service) Imports() ([]string, error) {
	found := map[string]bool{}
	err := s.walk(func(path string) {
		file, _ := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if file == nil {
			return
		}
		for _, spec := range file.Imports {
			if name, err := strconv.Unquote(spec.Path.Value); err == nil {
				found[name] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(found)), err
}

// Mentions reports whether the service's Go code, tests apart, holds the word.
func (s *Service) Mentions(word string) bool {
	found := false
	_ = s.walk(func(path string) {
		if found {
			return
		}
		text, err := os.ReadFile(path)
		found = err == nil && strings.Contains(string(text), word)
	})
	return found
}

// walk calls see with each Go file of the module.
func (s *Service) walk(see func(path string)) error {
	return filepath.WalkDir(s.Root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != s.Root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
				name == "vendor" || name == "testdata" || name == "node_modules" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			see(path)
		}
		return nil
	})
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// Requires returns the version of a module that go.mod asks for, and whether it is there only for other modules.
func (s *Service) Requires(path string) (version string, indirect bool) {
	if s.Module == nil {
		return "", false
	}
	for _, r := range s.Module.Require {
		if r.Mod.Path == path {
			return r.Mod.Version, r.Indirect
		}
	}
	return "", false
}
