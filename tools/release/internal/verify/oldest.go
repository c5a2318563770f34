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

// oldest holds the packages, and all that they import, to the oldest Go that is
// supported: its go command has to accept the modules and chooses the files, and these
// have to fit the language that each module states and that Go's standard library.
// Nothing is compiled: what an older Go refuses, it refuses before that, and to compile
// it all a second time takes several times as long.
func (v *verifier) oldest(ctx context.Context, folder string, packages []string) error {
	if runtime.Version() == "go"+goVersion {
		return nil
	}
	root, err := toolchain(ctx)
	if err != nil {
		if os.Getenv("CI") == "true" {
			return fmt.Errorf("the oldest Go that is supported: %w", err)
		}
		fmt.Fprintf(v.Out, "*** NOT TRIED WITH GO %s, WHICH IS PROMISED: it cannot be obtained: %v ***\n", goVersion, err)
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
		return fmt.Errorf("with Go %s, the oldest that is supported: %w", goVersion, err)
	}
	return nil
}

// toolchain returns the root of the oldest Go, which comes through the module proxy into
// the shared module cache.
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

// source is what the go command says of a package.
type source struct {
	ImportPath, Dir string
	GoFiles         []string
	// of the paths that mean another package, in the standard library
	ImportMap map[string]string
	Standard  bool
	Module    *struct{ GoVersion string }
}

// checkTypes checks the packages that the go command has listed, each after those that it
// imports.
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

// check reads the package and checks its types, with those that are known. The errors are
// all of the package's.
func (s *source) check(known map[string]*types.Package) (*types.Package, error) {
	set := token.NewFileSet()
	files := make([]*ast.File, len(s.GoFiles))
	for i, name := range s.GoFiles {
		var err error
		if files[i], err = parser.ParseFile(set, filepath.Join(s.Dir, name), nil,
			parser.SkipObjectResolution); err != nil {
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
			return nil, fmt.Errorf("package %s is not listed before it is imported", path)
		}
		return known[path], nil
	}
}

// importer is a function that finds packages.
type importer func(path string) (*types.Package, error)

// Import implements types.Importer.
func (f importer) Import(path string) (*types.Package, error) { return f(path) }
