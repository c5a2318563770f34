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

// readDefaults returns what the code of the programs gives to xoption.WithEnvDefaults.
// What two of them say differently counts for none. Unclear gets what could not be read:
// what is computed is known only when the service runs.
func (s *Service) readDefaults() map[string]string {
	r := &reader{service: s, set: token.NewFileSet(), checked: map[string]*types.Package{}}
	byPackage := map[string]map[string]string{}
	for name, p := range s.linked {
		if s.owns(p) && p.holds(withDefaults) {
			byPackage[name] = r.read(p)
		}
	}
	each := make([]map[string]string, len(s.Programs))
	for i, program := range s.Programs {
		each[i] = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(byPackage)) {
			if program.Packages[name] != nil {
				maps.Copy(each[i], byPackage[name])
			}
		}
	}
	found := map[string]string{}
	for _, values := range each {
		for key, value := range values {
			if !slices.ContainsFunc(each,
				func(other map[string]string) bool { return other[key] != value }) {
				found[key] = value
			} else {
				s.Unclear = append(s.Unclear,
					fmt.Sprintf(
						"%s has a default of its own in each of %s: start this in the folder of one",
						key, strings.Join(s.folders(), ", ")))
			}
		}
	}
	slices.Sort(s.Unclear)
	s.Unclear = slices.Compact(s.Unclear)
	return found
}

// folders are those of the programs.
func (s *Service) folders() []string {
	all := make([]string, len(s.Programs))
	for i, p := range s.Programs {
		all[i] = p.Folder
	}
	slices.Sort(all)
	return all
}

// reader reads packages. Only xenv and those of the service itself are looked into: of
// the others nothing is known, and what depends on them stays without a type.
type reader struct {
	service *Service
	set     *token.FileSet
	checked map[string]*types.Package
}

// read returns the defaults that a package gives.
func (r *reader) read(p *Package) map[string]string {
	values := map[string]string{}
	files, info := r.check(p)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && lastName(call.Fun) == withDefaults &&
				len(call.Args) == 1 {
				r.pairs(values, call.Args[0], info)
			}
			return true
		})
	}
	return values
}

// check types a package as far as that goes without the packages of others.
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
		// a package that imports itself gets this
		r.checked[name] = types.NewPackage(name, path.Base(name))
		r.checked[name].MarkComplete()
		if p := r.service.linked[name]; p != nil && (name == xenvPath || r.service.owns(p)) {
			r.check(p)
		}
	}
	return r.checked[name], nil
}

// pairs adds those of a map.
func (r *reader) pairs(values map[string]string, e ast.Expr, info *types.Info) {
	unclear := func(at ast.Node, what string) {
		position := r.set.Position(at.Pos())
		r.service.Unclear = append(r.service.Unclear,
			fmt.Sprintf("%s:%d gives %s %s",
				r.service.rel(position.Filename), position.Line, withDefaults, what))
	}
	literal, ok := ast.Unparen(e).(*ast.CompositeLit)
	if !ok {
		unclear(e, "a map that is made elsewhere")
		return
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		key, known := textOf(pair.Key, info)
		value, plain := textOf(pair.Value, info)
		switch {
		case !known:
			unclear(pair, "a variable that this program does not know")
		case !plain:
			unclear(pair, "a value for "+key+" that is computed")
		default:
			values[key] = value
		}
	}
}

// textOf is the value of a constant text.
func textOf(e ast.Expr, info *types.Info) (string, bool) {
	value := info.Types[e].Value
	if value == nil || value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(value), true
}

// lastName is the name behind the last dot.
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
