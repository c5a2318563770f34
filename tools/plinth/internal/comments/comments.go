// Package comments reads the doc comments of the packages of a program.
package comments

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/service"
)

// Read returns the doc comments of functions, methods, types and struct fields by
// qualified name: "path.Func", "path.(*T).Method", "path.T.Method", "path.T" and
// "path.T.Field". Names have no type parameters. Read parses the packages of the module,
// of its workspace and of Plinth.
//
// The names in the main package exist twice: with the path of the package, and with
// "main", which is its path at run time.
func Read(program service.Program) (map[string]string, error) {
	r := reader{set: token.NewFileSet(), found: map[string]string{}}
	for _, p := range program.Packages {
		if !isRead(p) {
			continue
		}
		r.paths = []string{p.ImportPath}
		if p.Name == "main" {
			r.paths = append(r.paths, p.Name)
		}
		for _, name := range p.Files() {
			file, err := parser.ParseFile(r.set, name, nil,
				parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return nil, fmt.Errorf("read the doc comments: %w", err)
			}
			r.readFile(file)
		}
	}
	return r.found, nil
}

// isRead reports whether a package belongs to the service, its workspace or Plinth.
func isRead(p *service.Package) bool {
	return p.Module != nil &&
		(p.Module.Main || strings.HasPrefix(p.ImportPath, service.Project))
}

// reader collects the comments of one package after another.
type reader struct {
	set   *token.FileSet
	paths []string // of the current package
	found map[string]string
}

func (r *reader) add(name string, groups ...*ast.CommentGroup) {
	for _, group := range groups {
		text := strings.TrimSpace(group.Text()) // "" for nil
		if text == "" {
			continue
		}
		for _, path := range r.paths {
			r.found[path+"."+name] = text
		}
		return
	}
}

func (r *reader) readFile(file *ast.File) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			r.add(receiver(decl)+decl.Name.Name, decl.Doc)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					r.readType(spec, decl)
				}
			}
		}
	}
}

func (r *reader) readType(spec *ast.TypeSpec, decl *ast.GenDecl) {
	groups := []*ast.CommentGroup{spec.Doc, spec.Comment}
	if !decl.Lparen.IsValid() {
		groups = append(groups, decl.Doc)
	}
	r.add(spec.Name.Name, groups...)
	var fields *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType: // a method of an interface can be a handler, too
		fields = t.Methods
	default:
		return
	}
	for _, field := range fields.List {
		names := field.Names
		if len(names) == 0 { // embedded
			names = []*ast.Ident{{Name: typeName(field.Type)}}
		}
		for _, name := range names {
			r.add(spec.Name.Name+"."+name.Name, field.Doc, field.Comment)
		}
	}
}

// receiver returns "T." or "(*T)." for a method, and "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := ast.Unparen(f.Recv.List[0].Type)
	if star, ok := t.(*ast.StarExpr); ok {
		return "(*" + typeName(star.X) + ")."
	}
	return typeName(t) + "."
}

// typeName returns the name of a type without package, pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	default:
		return ""
	}
}
