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

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Defaults are what the code of a program gives to xoption.WithEnvDefaults.
type Defaults struct {
	Values map[xenv.EnvKey]string
	// Unclear says what could not be read, a line each: what is computed is known only when the service runs.
	Unclear []string
}

const (
	withDefaults = "WithEnvDefaults"
	xenvPath     = Core + "/defined/xenv"
)

// readDefaults reads those of all programs. What two of them say differently counts for none.
func (s *Service) readDefaults() Defaults {
	r := newReader(s)
	found := Defaults{Values: map[xenv.EnvKey]string{}}
	each := make([]map[xenv.EnvKey]string, len(s.Programs))
	keys := map[xenv.EnvKey]bool{}
	for i, program := range s.Programs {
		each[i] = map[xenv.EnvKey]string{}
		for _, name := range slices.Sorted(maps.Keys(program.Packages)) {
			d := r.read(program, name)
			maps.Copy(each[i], d.Values)
			found.Unclear = append(found.Unclear, d.Unclear...)
		}
		for key := range each[i] {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		value, same := "", true
		for i, values := range each {
			text, has := values[key]
			same = same && has && (i == 0 || text == value)
			value = text
		}
		if same {
			found.Values[key] = value
			continue
		}
		found.Unclear = append(found.Unclear, fmt.Sprintf("%s has a default of its own in each of %s: start this in the folder of one",
			key, strings.Join(s.folders(), ", ")))
	}
	slices.Sort(found.Unclear)
	found.Unclear = slices.Compact(found.Unclear)
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

// reader reads packages, each once. Only those of the service itself are looked into: of the others nothing is known but the
// variables in xenv, and what depends on them stays without a type.
type reader struct {
	service  *Service
	set      *token.FileSet
	program  Program
	xenv     *types.Package
	key      types.Type // xenv.EnvKey
	checked  map[string]*types.Package
	defaults map[string]Defaults
}

func newReader(s *Service) *reader {
	xenv := types.NewPackage(xenvPath, "xenv")
	name := types.NewTypeName(token.NoPos, xenv, "EnvKey", nil)
	key := types.NewNamed(name, types.Typ[types.String], nil)
	xenv.Scope().Insert(name)
	xenv.MarkComplete()
	return &reader{
		service: s, set: token.NewFileSet(), xenv: xenv, key: key,
		checked: map[string]*types.Package{xenvPath: xenv}, defaults: map[string]Defaults{},
	}
}

// read returns the defaults that a package gives.
func (r *reader) read(program Program, name string) Defaults {
	p := program.Packages[name]
	if d, ok := r.defaults[name]; ok || !r.service.owns(p) || !p.holds(withDefaults) {
		return d
	}
	r.program = program
	d := Defaults{Values: map[xenv.EnvKey]string{}}
	files, info := r.check(p)
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && lastName(call.Fun) == withDefaults && len(call.Args) == 1 {
				r.pairs(&d, call.Args[0], files, info)
			}
			return true
		})
	}
	r.defaults[name] = d
	return d
}

// check types a package as far as that goes without the packages of others.
func (r *reader) check(p *Package) ([]*ast.File, *types.Info) {
	var files []*ast.File
	for _, name := range p.files() {
		if file, _ := parser.ParseFile(r.set, name, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
			r.declare(file)
		}
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: r, Error: func(error) {}, FakeImportC: true}
	r.checked[p.ImportPath], _ = config.Check(p.ImportPath, r.set, files, info)
	return files, info
}

// declare puts the constants of xenv that a file may use into its package.
func (r *reader) declare(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if key, ok := keyNamed(s.Sel.Name); ok {
				r.xenv.Scope().Insert(types.NewConst(token.NoPos, r.xenv, s.Sel.Name, r.key, constant.MakeString(key.String())))
			}
		}
		return true
	})
}

// keyNamed finds the variable for which a constant of xenv stands.
func keyNamed(name string) (xenv.EnvKey, bool) {
	name = strings.ToLower(name)
	for _, v := range xenv.Table() {
		plain := strings.ToLower(strings.ReplaceAll(v.Key.String(), "_", ""))
		if name == plain || "plinth"+name == plain {
			return v.Key, true
		}
	}
	return "", false
}

// Import implements types.Importer.
func (r *reader) Import(name string) (*types.Package, error) {
	if pkg := r.checked[name]; pkg != nil {
		return pkg, nil
	}
	if p := r.program.Packages[name]; r.service.owns(p) {
		r.checked[name] = types.NewPackage(name, p.Name) // whoever imports itself meets this
		r.check(p)
		return r.checked[name], nil
	}
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	r.checked[name] = pkg
	return pkg, nil
}

// pairs adds those of a map.
func (r *reader) pairs(to *Defaults, e ast.Expr, files []*ast.File, info *types.Info) {
	unclear := func(at ast.Node, what string) {
		position := r.set.Position(at.Pos())
		to.Unclear = append(to.Unclear, fmt.Sprintf("%s:%d gives %s %s", r.service.rel(position.Filename), position.Line, withDefaults, what))
	}
	literal := mapOf(e, files, info)
	if literal == nil {
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
			to.Values[xenv.EnvKey(key)] = value
		}
	}
}

// mapOf is the literal of an expression: itself, or that of a variable which is used nowhere else.
func mapOf(e ast.Expr, files []*ast.File, info *types.Info) *ast.CompositeLit {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return e
	case *ast.Ident:
		if object := info.Uses[e]; object != nil && uses(object, info) == 1 {
			literal, _ := initial(object, files, info).(*ast.CompositeLit)
			return literal
		}
	}
	return nil
}

func uses(object types.Object, info *types.Info) (n int) {
	for _, used := range info.Uses {
		if used == object {
			n++
		}
	}
	return n
}

// initial is what a variable is declared with.
func initial(object types.Object, files []*ast.File, info *types.Info) (value ast.Expr) {
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if info.Defs[name] == object && len(n.Values) == len(n.Names) {
						value = n.Values[i]
					}
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if name, ok := left.(*ast.Ident); ok && info.Defs[name] == object && len(n.Rhs) == len(n.Lhs) {
						value = n.Rhs[i]
					}
				}
			}
			return true
		})
	}
	return value
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
