package api

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// interfaceVersion is the constant of a driver package that says which version its interface has, and the method by which a
// driver says for which it was written.
const interfaceVersion = "InterfaceVersion"

// Moved returns the packages whose driver interface has another version than before.
func Moved(old, now Module) []string {
	before := versions(old)
	var moved []string
	for path, version := range versions(now) {
		if was, ok := before[path]; ok && was != version {
			moved = append(moved, path)
		}
	}
	slices.Sort(moved)
	return moved
}

func versions(m Module) map[string]string {
	versions := map[string]string{}
	for _, p := range m.Packages {
		if c, ok := p.Scope().Lookup(interfaceVersion).(*types.Const); ok && c.Val().Kind() == constant.Int {
			versions[p.Path()] = c.Val().ExactString()
		}
	}
	return versions
}

// Drives returns those of the driver packages for which the module in the folder has a driver: one of its packages imports it
// and has the method InterfaceVersion. Tests do not count.
func Drives(folder string, packages []string) ([]string, error) {
	own := map[string]*source{} // by folder
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		dir := filepath.Dir(name)
		if own[dir] == nil {
			own[dir] = &source{}
		}
		own[dir].read(name)
		return nil
	})
	var driven []string
	for _, p := range packages {
		for _, s := range own {
			if s.method && slices.Contains(s.imports, p) && !slices.Contains(driven, p) {
				driven = append(driven, p)
			}
		}
	}
	return driven, err
}

// source is what counts of the source of a package.
type source struct {
	imports []string
	method  bool
}

// read adds a file. What does not parse is no driver, and the build says so.
func (s *source) read(name string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	for _, i := range file.Imports {
		s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
	}
	s.method = s.method || slices.ContainsFunc(file.Decls, isMethod)
}

func isMethod(d ast.Decl) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv != nil && f.Name.Name == interfaceVersion
}
