package doctor

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// interfaceVersion is the name of core's constant, and of the method with which a driver says what it was written for.
const interfaceVersion = "InterfaceVersion"

// checkInterfaces compares the driver interface of core with what each plugin was written for, by their source in the module
// cache. The same mismatch would end the start.
func (p *patient) checkInterfaces(ctx context.Context, own []string) []Finding {
	plugins := slices.DeleteFunc(slices.Clone(own), func(path string) bool { return familyOf(path) == "" })
	if len(plugins) == 0 {
		return nil
	}
	folders, err := p.folders(ctx, append(plugins, service.Core))
	if err != nil {
		return []Finding{skipped("driver interfaces: the modules are not all in the module cache (go mod download)")}
	}
	var found []Finding
	for _, path := range plugins {
		family := familyOf(path)
		if folders[path] == "" || folders[service.Core] == "" {
			found = append(found, skipped("driver interface of %s: it is not in the module cache (go mod download)", path))
			continue
		}
		want := numberIn(filepath.Join(folders[service.Core], filepath.FromSlash(family)))
		have := numberIn(folders[path])
		if want != "" && have != "" && want != have {
			found = append(found, problem(
				fmt.Sprintf("%s was written for version %s of the driver interface, and core has version %s", path, have, want),
				fmt.Sprintf("go get %s@latest %s@latest && go mod tidy", service.Core, path),
			))
		}
	}
	return found
}

// familyOf is the package of core whose interface a plugin implements, "" where the module is no plugin.
func familyOf(path string) string {
	switch {
	case strings.HasPrefix(path, service.DBPlugins):
		return "major/xdb/driver"
	case strings.HasPrefix(path, service.CachePlugins):
		return "major/xcache/driver"
	default:
		return ""
	}
}

// folders returns where the go command finds the source of modules, without fetching any.
func (p *patient) folders(ctx context.Context, modules []string) (map[string]string, error) {
	const line = "{{.Path}}\t{{.Dir}}"
	args := append([]string{"list", "-m", "-f", line}, modules...)
	out, err := run(ctx, p.Root, p.GoEnv(), "go", args...)
	if err != nil {
		return nil, err
	}
	folders := map[string]string{}
	for row := range strings.Lines(out) {
		path, dir, _ := strings.Cut(strings.TrimSpace(row), "\t")
		folders[path] = dir
	}
	return folders, nil
}

// unsaid is the version of a driver that does not say one.
const unsaid = "1"

// numberIn returns the number that a package gives to its constant or method InterfaceVersion, "" where that is no plain number.
func numberIn(dir string) string {
	number := unsaid
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return ""
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if found, ok := numberOf(n); ok {
				number = found
			}
			return true
		})
	}
	return number
}

// numberOf reports whether n is that constant or method, and returns its number, "" where there is more to it.
func numberOf(n ast.Node) (number string, ok bool) {
	var value ast.Expr
	switch n := n.(type) {
	case *ast.ValueSpec:
		if len(n.Names) == 1 && n.Names[0].Name == interfaceVersion && len(n.Values) == 1 {
			value, ok = n.Values[0], true
		}
	case *ast.FuncDecl:
		if n.Name.Name == interfaceVersion && n.Recv != nil {
			value, ok = onlyResult(n), true
		}
	}
	if lit, ok := value.(*ast.BasicLit); ok && lit.Kind == token.INT {
		return lit.Value, ok
	}
	return "", ok
}

// onlyResult is what a method returns that does nothing else, or nil.
func onlyResult(f *ast.FuncDecl) ast.Expr {
	if f.Body == nil || len(f.Body.List) != 1 {
		return nil
	}
	if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
		return r.Results[0]
	}
	return nil
}
