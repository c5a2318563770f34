package api

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// interfaceVersion is the name of the constant for the version of a driver interface, and
// of the method that returns the version that a driver implements. A job engine declares
// the version in the field interfaceField of its capabilities.
const (
	interfaceVersion = "InterfaceVersion"
	interfaceField   = "Interface"
)

// Moved returns the new interface versions of the driver packages whose version changed.
func Moved(old, now Module) map[string]string {
	before, moved := versions(old), map[string]string{}
	for path, version := range versions(now) {
		if was, ok := before[path]; ok && was != version {
			moved[path] = version
		}
	}
	return moved
}

func versions(m Module) map[string]string {
	versions := map[string]string{}
	for _, p := range m.Packages {
		if c, ok := p.Scope().Lookup(interfaceVersion).(*types.Const); ok &&
			c.Val().Kind() == constant.Int {
			versions[p.Path()] = c.Val().ExactString()
		}
	}
	return versions
}

// Written returns the interface versions that the drivers of the module in the directory
// implement, by driver package. A version is "" if it is not an integer literal. Tests
// and nested modules are ignored.
func Written(folder string, packages []string) (map[string]string, error) {
	own, err := sources(folder)
	written := map[string]string{}
	for _, p := range packages {
		for _, s := range own {
			if s.declared && slices.Contains(s.imports, p) {
				written[p] = s.version
			}
		}
	}
	return written, err
}

// sources reads the packages of the module in the directory.
func sources(folder string) (map[string]*source, error) {
	own := map[string]*source{} // by directory
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != folder && isModule(name):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") ||
			strings.HasSuffix(name, "_test.go"):
			return nil
		}
		dir := filepath.Dir(name)
		if own[dir] == nil {
			own[dir] = &source{}
		}
		own[dir].read(name)
		return nil
	})
	return own, err
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// source contains the imports and the declared interface version of a package.
type source struct {
	imports  []string
	declared bool
	version  string
}

// read adds a file. It skips files with syntax errors, which the build reports.
func (s *source) read(name string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	for _, i := range file.Imports {
		s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if value, ok := declaredVersion(n); ok {
			s.declared = true
			if number, ok := value.(*ast.BasicLit); ok && number.Kind == token.INT {
				s.version = number.Value
			}
		}
		return true
	})
}

// declaredVersion returns the expression for the interface version if n is the
// declaration of a driver or engine.
func declaredVersion(n ast.Node) (ast.Expr, bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Recv == nil || n.Name.Name != interfaceVersion {
			return nil, false
		}
		if n.Body != nil && len(n.Body.List) == 1 {
			if r, ok := n.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
				return r.Results[0], true
			}
		}
		return nil, true
	case *ast.KeyValueExpr:
		key, ok := n.Key.(*ast.Ident)
		return n.Value, ok && key.Name == interfaceField
	}
	return nil, false
}
