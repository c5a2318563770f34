// Package api compares the exported declarations of module versions.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
)

// A Module is the API of a module: its packages except programs and internal packages.
type Module struct {
	Path     string
	Packages []*types.Package // only exported declarations count
}

// listedPackage is a package in the output of the go command.
type listedPackage struct {
	ImportPath, Name, Export string
	DepOnly                  bool
}

// Load compiles the packages of the module in the directory and reads their exported API,
// for the host platform and without build tags.
func Load(ctx context.Context, s *sandbox.Sandbox, folder, cache, path string) (Module, error) {
	out, err := s.Output(ctx, folder, cache, "list", "-export", "-deps",
		"-json=ImportPath,Name,Export,DepOnly", "./...")
	if err != nil {
		return Module{}, err
	}
	exports := map[string]string{}
	var own []string
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return Module{}, fmt.Errorf("go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly && p.Name != "main" && !isInternal(p.ImportPath) {
			own = append(own, p.ImportPath)
		}
	}
	read := importer.ForCompiler(token.NewFileSet(), "gc",
		func(path string) (io.ReadCloser, error) {
			if exports[path] == "" {
				return nil, fmt.Errorf("package %s has no export data", path)
			}
			return os.Open(exports[path])
		})
	m := Module{Path: path}
	for _, name := range own {
		p, err := read.Import(name)
		if err != nil {
			return Module{}, err
		}
		m.Packages = append(m.Packages, p)
	}
	return m, nil
}

// isInternal reports whether other modules cannot import the package.
func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// A Diff describes the API changes.
type Diff struct {
	Breaking []string `json:"breaking,omitempty"`
	Added    []string `json:"added,omitempty"`
}

// Compare returns the incompatible changes and the additions of the new API.
func Compare(old, now Module) Diff {
	report := apidiff.ModuleChanges(&apidiff.Module{Path: old.Path, Packages: old.Packages},
		&apidiff.Module{Path: now.Path, Packages: now.Packages})
	var d Diff
	for _, c := range report.Changes {
		message := strings.ReplaceAll(c.Message, old.Path+"/", "")
		if c.Compatible {
			d.Added = append(d.Added, message)
		} else {
			d.Breaking = append(d.Breaking, message)
		}
	}
	slices.Sort(d.Breaking)
	slices.Sort(d.Added)
	return d
}
