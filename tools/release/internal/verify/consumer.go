package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// domain is the first element of the import paths of consumers.
const domain = "consumer.example"

// consumer verifies a program that requires only the given modules of the repository.
func (v *verifier) consumer(ctx context.Context, c consumer) error {
	folder := v.stage.Path("consumers", c.Name)
	var modules []workspace.Module
	for _, name := range c.Modules {
		modules = append(modules, v.module(name))
	}
	if err := v.initModule(ctx, folder, c.Name, modules); err != nil {
		return err
	}
	if err := v.program(c, folder); err != nil {
		return err
	}
	if err := v.tidy(ctx, folder, modules); err != nil {
		return err
	}
	binary := filepath.Join(folder, "program")
	for _, args := range [][]string{
		{"vet", "-mod=readonly", "./..."},
		{"build", "-mod=readonly", "-ldflags=-s -w", "-o", binary, "."},
	} {
		if err := v.stage.Go(ctx, folder, v.stage.Cache(shared), args...); err != nil {
			return err
		}
	}
	return v.limits.check(c, binary)
}

// initModule creates a module without packages that requires the given modules.
func (v *verifier) initModule(
	ctx context.Context, folder, name string, modules []workspace.Module,
) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	get := []string{"get"}
	for _, m := range modules {
		get = append(get, m.Path()+"@"+v.planned[m.Path()])
	}
	for _, args := range [][]string{
		{"mod", "init", domain + "/" + name},
		{"mod", "edit", "-go=" + goVersion},
	} {
		if err := v.stage.Go(ctx, folder, v.stage.Cache(shared), args...); err != nil {
			return err
		}
	}
	// Reuse the verified hashes of third-party modules, so that the go command does not
	// query the checksum database for each program.
	if err := os.WriteFile(filepath.Join(folder, "go.sum"), v.sums, 0o600); err != nil {
		return err
	}
	return v.stage.Go(ctx, folder, v.stage.Cache(shared), get...)
}

// tidy tidies the program's module. It returns an error if a second go mod tidy changes
// files, or if go.mod requires other versions than the planned ones.
func (v *verifier) tidy(ctx context.Context, folder string, modules []workspace.Module) error {
	cache := v.stage.Cache(shared)
	if err := v.stage.Go(ctx, folder, cache, "mod", "tidy"); err != nil {
		return err
	}
	if err := v.stage.Go(ctx, folder, cache, "mod", "tidy", "-diff"); err != nil {
		return fmt.Errorf("a second go mod tidy changes files: %w", err)
	}
	text, err := read(folder, "go.mod")
	if err != nil {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	have := map[string]string{}
	for _, r := range file.Require {
		have[r.Mod.Path] = r.Mod.Version
	}
	var problems []error
	for _, m := range modules {
		if got, want := have[m.Path()], v.planned[m.Path()]; got != want {
			problems = append(problems,
				fmt.Errorf("go.mod must require %s %s, but requires version %q: "+
					"import the module in the program", m.Name, want, got))
		}
	}
	return errors.Join(problems...)
}

// program copies the program and the packages of the adjacent directory internal that it
// imports.
func (v *verifier) program(c consumer, folder string) error {
	source := filepath.Join(v.Root, filepath.FromSlash(c.Program))
	if err := copyPackage(source, folder); err != nil {
		return err
	}
	internalDir := filepath.Join(filepath.Dir(source), "internal")
	packages, err := os.ReadDir(internalDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	inner := workspace.Root + "/" + path.Dir(c.Program) + "/internal/"
	for _, p := range packages {
		uses, err := replaceIn(folder, inner+p.Name()+`"`,
			domain+"/"+c.Name+"/internal/"+p.Name()+`"`)
		if err != nil {
			return err
		}
		if uses {
			target := filepath.Join(folder, "internal", p.Name())
			if err := copyPackage(filepath.Join(internalDir, p.Name()), target); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyPackage copies the Go files of a directory except its tests.
func copyPackage(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no Go files in %s", from)
	}
	if err := os.MkdirAll(to, 0o750); err != nil {
		return err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// replaceIn replaces a string in the Go files of a directory, and reports whether it
// occurred.
func replaceIn(folder, before, after string) (found bool, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return false, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if !strings.Contains(string(text), before) {
			continue
		}
		found = true
		replaced := strings.ReplaceAll(string(text), before, after)
		if err := os.WriteFile(name, []byte(replaced), 0o600); err != nil {
			return false, err
		}
	}
	return found, nil
}
