package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// together builds and runs a program that imports every public package of all modules, so
// that conflicting registrations fail. It also checks the packages with the oldest Go.
func (v *verifier) together(ctx context.Context) error {
	modules := slices.DeleteFunc(slices.Clone(v.stage.Modules),
		func(m workspace.Module) bool { return !m.Released() })
	folder, cache := v.stage.Path("consumers", "all"), v.stage.Cache(shared)
	if err := v.initModule(ctx, folder, "all", modules); err != nil {
		return err
	}
	packages, err := v.public(ctx, folder, modules)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("package main\n\n")
	for _, p := range packages {
		fmt.Fprintf(&b, "import _ %q\n", p)
	}
	b.WriteString("\nfunc main() {}\n")
	file := filepath.Join(folder, "main.go")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return err
	}
	if err := v.tidy(ctx, folder, importable(modules, packages)); err != nil {
		return err
	}
	if err := v.oldest(ctx, folder, packages); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"vet", "-mod=readonly", "."},
		{"run", "-mod=readonly", "-ldflags=-s -w", "."},
	} {
		if err := v.stage.Go(ctx, folder, cache, args...); err != nil {
			return err
		}
	}
	return nil
}

// public lists the packages of the modules that a program can import.
func (v *verifier) public(
	ctx context.Context, folder string, modules []workspace.Module,
) ([]string, error) {
	args := []string{"list", "-f", "{{if and .GoFiles (ne .Name \"main\")}}{{.ImportPath}}{{end}}"}
	for _, m := range modules {
		args = append(args, m.Path()+"/...")
	}
	out, err := v.stage.Output(ctx, folder, v.stage.Cache(shared), args...)
	if err != nil {
		return nil, err
	}
	packages := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	return slices.DeleteFunc(packages,
		func(p string) bool { return slices.Contains(strings.Split(p, "/"), "internal") }), nil
}

// importable returns the modules with importable packages; the others contain only
// commands.
func importable(modules []workspace.Module, packages []string) []workspace.Module {
	return slices.DeleteFunc(slices.Clone(modules), func(m workspace.Module) bool {
		return !slices.ContainsFunc(packages,
			func(p string) bool { return p == m.Path() || strings.HasPrefix(p, m.Path()+"/") })
	})
}
