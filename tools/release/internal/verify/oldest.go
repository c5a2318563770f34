package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/plinthgo/plinth/tools/devstack/child"
)

// oldest checks the packages and their dependencies with the oldest supported Go. Its go
// command must accept the modules and selects the files. The files must type-check with
// the language version of their module and with its standard library. Nothing is
// compiled: type checking finds incompatible code, and a second compilation needs several
// times as long.
func (v *verifier) oldest(ctx context.Context, folder string, packages []string) error {
	if runtime.Version() == "go"+goVersion {
		return nil
	}
	root, err := toolchain(ctx)
	if err != nil {
		if os.Getenv("CI") == "true" {
			return fmt.Errorf("get the oldest supported Go: %w", err)
		}
		fmt.Fprintf(v.Out, "*** NOT TESTED WITH GO %s, THE OLDEST SUPPORTED VERSION: "+
			"download failed: %v ***\n", goVersion, err)
		return nil
	}
	args := append([]string{
		"list", "-mod=readonly", "-deps",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Module",
	}, packages...)
	cmd := child.Group(ctx, filepath.Join(root, "bin", "go"), args...)
	cmd.Dir, cmd.Env = folder, append(v.stage.Env(v.stage.Cache(shared)), "GOROOT="+root)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, problem.Bytes())
	} else {
		err = checkTypes(ctx, out)
	}
	if err != nil {
		return fmt.Errorf("with Go %s, the oldest supported version: %w", goVersion, err)
	}
	return nil
}

// toolchain returns the GOROOT of the oldest supported Go. The go command downloads it
// from the module proxy to the shared module cache.
func toolchain(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir, cmd.Env = os.TempDir(),
		append(os.Environ(), "GOTOOLCHAIN=go"+goVersion, "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return strings.TrimSpace(string(out)), err
}

// source is a package in the output of go list.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	// replacements of import paths in the standard library
	ImportMap map[string]string
	Standard  bool
	Module    *struct{ GoVersion string }
}

// checkTypes checks the types of the packages in the output of go list -deps, which lists
// dependencies first.
func checkTypes(ctx context.Context, list []byte) error {
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	for decoder := json.NewDecoder(bytes.NewReader(list)); ctx.Err() == nil; {
		var s source
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if known[s.ImportPath] != nil {
			continue
		}
		var err error
		if known[s.ImportPath], err = s.check(known); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// check parses the package and checks its types. It returns all errors of the package.
func (s *source) check(known map[string]*types.Package) (*types.Package, error) {
	set := token.NewFileSet()
	files := make([]*ast.File, len(s.GoFiles))
	for i, name := range s.GoFiles {
		file := filepath.Join(s.Dir, name)
		var err error
		files[i], err = parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
	}
	var problems []error
	c := types.Config{
		Importer:         s.importer(known),
		Sizes:            types.SizesFor("gc", runtime.GOARCH),
		IgnoreFuncBodies: s.Standard,
		Error:            func(err error) { problems = append(problems, err) },
	}
	if s.Module != nil && s.Module.GoVersion != "" {
		c.GoVersion = "go" + s.Module.GoVersion
	}
	p, err := c.Check(s.ImportPath, set, files, nil)
	if err != nil {
		return nil, errors.Join(problems...)
	}
	return p, nil
}

func (s *source) importer(known map[string]*types.Package) importer {
	return func(path string) (*types.Package, error) {
		if other, ok := s.ImportMap[path]; ok {
			path = other
		}
		if known[path] == nil {
			return nil, fmt.Errorf("package %s is imported before go list prints it", path)
		}
		return known[path], nil
	}
}

// importer implements types.Importer.
type importer func(path string) (*types.Package, error)

// Import implements types.Importer.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
