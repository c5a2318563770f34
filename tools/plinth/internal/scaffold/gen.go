package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"strings"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// GenEntity plans a new entity in the service at root, in the layout that Render writes.
func GenEntity(root, modulePath, name string, fields []string) (Changes, error) {
	p := newPlan(root)
	s, err := p.inspect(modulePath)
	if err != nil {
		return nil, err
	}
	e, err := NewEntity(s, name, fields)
	if err != nil {
		return nil, err
	}
	files, err := RenderEntity(e)
	if err != nil {
		return nil, err
	}
	if err := p.create(files); err != nil {
		return nil, err
	}
	if err := p.addRoute(e); err != nil {
		return nil, err
	}
	if e.DB != nil {
		if err := p.addMigration(e); err != nil {
			return nil, err
		}
	}
	return p.list(), nil
}

// errLayout explains what is missing.
var errLayout = errors.New("gen works in the layout that plinth new writes")

// inspect finds out which of the functions that an entity's code calls are there.
func (p *plan) inspect(modulePath string) (*Service, error) {
	has := map[string]bool{}
	for _, folder := range []string{"internal/repository", "internal/handler", "internal/route", "."} {
		files, err := p.goFiles(folder, anyFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, f := range files {
			if folder == "." && path.Dir(f.name) != "." {
				continue
			}
			for _, d := range f.tree.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					has[path.Join(folder, fn.Name.Name)] = true
				}
			}
		}
	}
	return layout(modulePath, has)
}

func layout(modulePath string, has map[string]bool) (*Service, error) {
	s := &Service{Module: modulePath, Name: ServiceName(modulePath)}
	if has["internal/repository/cached"] && has["internal/repository/forget"] {
		memory := catalog.Caches()[0]
		s.Cache = &memory
	}
	if has["internal/repository/affected"] {
		sqlite := catalog.Databases()[0]
		s.DB = &sqlite
	}
	var missing []error
	if s.DB == nil && !has["internal/repository/insert"] {
		missing = append(missing, errors.New("internal/repository has no function affected (with a database) or insert (without one)"))
	}
	for _, name := range []string{"internal/handler/pathID", "internal/handler/answer", "internal/route/Register", "start"} {
		if !has[name] {
			folder, fn := path.Split(name)
			if folder == "" {
				folder = "the tests of the main package" + "/"
			}
			missing = append(missing, fmt.Errorf("%s has no function %s", strings.TrimSuffix(folder, "/"), fn))
		}
	}
	if len(missing) > 0 {
		return nil, errors.Join(append([]error{errLayout}, missing...)...)
	}
	return s, nil
}

// addRoute calls the entity's routes at the end of Register.
func (p *plan) addRoute(e *Entity) error {
	files, err := p.goFiles("internal/route", exceptTests)
	if err != nil {
		return err
	}
	for _, f := range files {
		register := f.function("Register")
		if register == nil {
			continue
		}
		group := groupVariable(register)
		if group == "" {
			return fmt.Errorf("%s: Register makes no group of routes, such as api := engine.Group(\"/api/v1\")", f.name)
		}
		f, err = f.insert(f.offset(register.Body.Rbrace), fmt.Sprintf("\t%s(%s)\n", e.PluralVar, group))
		if err != nil {
			return err
		}
		return p.write(f.name, "routes of "+e.Nouns, f.text)
	}
	return fmt.Errorf("%w: internal/route has no function Register", errLayout)
}

// groupVariable returns the variable that a function gives the first group of routes, or "".
func groupVariable(fn *ast.FuncDecl) string {
	for _, statement := range fn.Body.List {
		assign, ok := statement.(*ast.AssignStmt)
		if !ok || len(assign.Lhs) != 1 || len(assign.Rhs) != 1 {
			continue
		}
		call, ok := assign.Rhs[0].(*ast.CallExpr)
		if !ok {
			continue
		}
		selector, ok := call.Fun.(*ast.SelectorExpr)
		variable, isName := assign.Lhs[0].(*ast.Ident)
		if ok && isName && selector.Sel.Name == "Group" {
			return variable.Name
		}
	}
	return ""
}

// addMigration adds the entity to those whose tables are made at the start.
func (p *plan) addMigration(e *Entity) error {
	files, err := p.goFiles(".", exceptTests)
	if err != nil {
		return err
	}
	for _, f := range files {
		calls := f.calls("WithAutoMigrate")
		if len(calls) == 0 {
			continue
		}
		if f, err = f.withImport(e.Module, "", e.Module+"/internal/entity"); err != nil {
			return err
		}
		call := f.calls("WithAutoMigrate")[0]
		entity := "&" + f.imported(e.Module+"/internal/entity") + "." + e.Name + "{}"
		if len(call.Args) == 0 {
			f, err = f.insert(f.offset(call.Rparen), entity)
		} else {
			f, err = f.insert(f.offset(call.Args[len(call.Args)-1].End()), ", "+entity)
		}
		if err != nil {
			return err
		}
		return p.write(f.name, "table "+e.Table, f.text)
	}
	return errors.New("no file calls xoptdatabase.WithAutoMigrate, which makes the tables")
}
