package service

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	withDefaults = "WithEnvDefaults"
	xenvPath     = Core + "/defined/xenv"
)

// readDefaults returns the values that the programs pass to xoption.WithEnvDefaults. It
// omits values that differ between programs or are known only at run time, and adds a
// message to Unclear for each of them.
func (s *Service) readDefaults() map[string]string {
	r := &reader{service: s, set: token.NewFileSet(), checked: map[string]*types.Package{}}
	byPackage := map[string]map[string]string{}
	for name, p := range s.linked {
		if s.owns(p) && p.contains(withDefaults) {
			byPackage[name] = r.read(p)
		}
	}
	byProgram := make([]map[string]string, len(s.Programs))
	for i, program := range s.Programs {
		byProgram[i] = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(byPackage)) {
			if program.Packages[name] != nil {
				maps.Copy(byProgram[i], byPackage[name])
			}
		}
	}
	found := map[string]string{}
	for _, values := range byProgram {
		for key, value := range values {
			if !slices.ContainsFunc(byProgram,
				func(other map[string]string) bool { return other[key] != value }) {
				found[key] = value
				continue
			}
			s.Unclear = append(s.Unclear, fmt.Sprintf(
				"%s has different defaults in %s; run plinth in the directory of one program",
				key, strings.Join(s.Folders(), ", ")))
		}
	}
	slices.Sort(s.Unclear)
	s.Unclear = slices.Compact(s.Unclear)
	return found
}

// Folders returns the directories of the programs, sorted.
func (s *Service) Folders() []string {
	all := make([]string, len(s.Programs))
	for i, p := range s.Programs {
		all[i] = p.Folder
	}
	slices.Sort(all)
	return all
}

// reader type-checks xenv and the packages of the service. Other packages are empty, and
// expressions that depend on them have no type.
type reader struct {
	service *Service
	set     *token.FileSet
	checked map[string]*types.Package
}

// read returns the defaults of a package.
func (r *reader) read(p *Package) map[string]string {
	values := map[string]string{}
	files, info := r.check(p)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && lastName(call.Fun) == withDefaults &&
				len(call.Args) == 1 {
				r.addPairs(values, call.Args[0], info)
			}
			return true
		})
	}
	return values
}

// check type-checks a package and ignores errors.
func (r *reader) check(p *Package) ([]*ast.File, *types.Info) {
	var files []*ast.File
	for _, name := range p.Files() {
		if file, _ := parser.ParseFile(r.set, name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: r, Error: func(error) {}, FakeImportC: true}
	r.checked[p.ImportPath], _ = config.Check(p.ImportPath, r.set, files, info)
	return files, info
}

// Import implements types.Importer.
func (r *reader) Import(name string) (*types.Package, error) {
	if r.checked[name] == nil {
		// Store the package before checking it, in case it imports itself.
		r.checked[name] = types.NewPackage(name, path.Base(name))
		r.checked[name].MarkComplete()
		if p := r.service.linked[name]; p != nil && (name == xenvPath || r.service.owns(p)) {
			r.check(p)
		}
	}
	return r.checked[name], nil
}

// addPairs adds the entries of a map literal to values.
func (r *reader) addPairs(values map[string]string, e ast.Expr, info *types.Info) {
	unclear := func(at ast.Node, what string) {
		position := r.set.Position(at.Pos())
		r.service.Unclear = append(r.service.Unclear,
			fmt.Sprintf("%s:%d: %s gets %s",
				r.service.rel(position.Filename), position.Line, withDefaults, what))
	}
	literal, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		unclear(e, "a map that is not a literal")
		return
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, known := textOf(pair.Key, info)
		value, isConstant := textOf(pair.Value, info)
		switch {
		case !known:
			unclear(pair, "a variable name that is not constant")
		case !isConstant:
			unclear(pair, "a value for "+key+" that is not constant")
		default:
			values[key] = value
		}
	}
}

// textOf returns the value of a constant string.
func textOf(e ast.Expr, info *types.Info) (string, bool) {
	value := info.Types[e].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}

// lastName returns the name after the last dot.
func lastName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}
