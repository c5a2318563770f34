package scaffold

import (
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// GenEntity plans a new entity in the service at root, in the layout that Render writes.
func GenEntity(root, modulePath, name string, fields []string) (*Edit, error) {
	p := newPlan(root)
	sources, err := p.goFiles()
	if err != nil {
		return nil, err
	}
	s, err := inspect(modulePath, sources)
	if err != nil {
		return nil, err
	}
	e, err := newEntity(s, name, fields)
	if err != nil {
		return nil, err
	}
	files, err := renderEntity(e)
	if err != nil {
		return nil, err
	}
	if err := p.create(files); err != nil {
		return nil, err
	}
	if err := p.addRoute(e, sources); err != nil {
		return nil, err
	}
	if e.DB != nil {
		if err := p.addMigration(e, sources); err != nil {
			return nil, err
		}
	}
	edit := &Edit{Changes: p.list()}
	document, err := p.read("openapi.json")
	if document != nil {
		edit.Left = []string{"run plinth openapi, which adds the routes to openapi.json"}
	}
	return edit, err
}

// inspect reports which functions that the code of an entity calls exist in the service.
func inspect(modulePath string, sources []*goFile) (*Service, error) {
	has := map[string]bool{}
	for _, f := range sources {
		for _, fn := range f.functions() {
			has[path.Join(path.Dir(f.name), fn.Name.Name)] = true
		}
	}
	s := &Service{Module: modulePath, Name: serviceName(modulePath)}
	if has["internal/repository/cached"] && has["internal/repository/invalidate"] {
		s.Cache = new(catalog.Backend)
	}
	if has["internal/repository/affected"] {
		s.DB = new(catalog.Backend)
	}
	var missing []error
	if s.DB == nil && !has["internal/repository/insert"] {
		missing = append(missing,
			errors.New("internal/repository has no function affected (with a database) or insert (without one)"))
	}
	if !has["internal/route/Register"] {
		missing = append(missing, errors.New("internal/route has no function Register"))
	}
	if !has["start"] {
		missing = append(missing,
			errors.New("the tests of the main package have no function start"))
	}
	if len(missing) > 0 {
		return nil, errors.Join(append(
			[]error{errors.New("gen requires the layout of plinth new")}, missing...)...)
	}
	return s, nil
}

// groupVariable matches the variable of the first route group.
var groupVariable = regexp.MustCompile(`(\w+) :?= \w+\.Group\(`)

// addRoute calls the routes of the entity at the end of Register.
func (p *plan) addRoute(e *entity, sources []*goFile) error {
	for _, f := range sources {
		for _, fn := range f.functions() {
			if path.Dir(f.name) != "internal/route" || fn.Name.Name != "Register" ||
				fn.Body == nil {
				continue
			}
			group := groupVariable.FindSubmatch(
				f.text[f.offset(fn.Body.Lbrace):f.offset(fn.Body.Rbrace)])
			if group == nil {
				return fmt.Errorf(
					"%s: Register creates no route group, such as api := xapi.Group(engine, \"/api/v1\")",
					f.name)
			}
			f, err := f.insert(fn.Body.Rbrace, fmt.Sprintf("\t%s(%s)\n", e.PluralVar, group[1]))
			if err != nil {
				return err
			}
			return p.write(f.name, "routes of "+e.Nouns, f.text)
		}
	}
	return nil // unreachable: inspect found it
}

// addMigration adds the entity to WithAutoMigrate.
func (p *plan) addMigration(e *entity, sources []*goFile) error {
	for _, f := range sources {
		if f.isTest() || len(f.calls("WithAutoMigrate")) == 0 {
			continue
		}
		f, err := f.withImport("", e.Module+"/internal/entity")
		if err != nil {
			return err
		}
		text := "&" + f.imported(e.Module+"/internal/entity") + "." + e.Name + "{}"
		call := f.calls("WithAutoMigrate")[0]
		at := call.Rparen
		if n := len(call.Args); n > 0 {
			at, text = call.Args[n-1].End(), ", "+text
		}
		if f, err = f.insert(at, text); err != nil {
			return err
		}
		return p.write(f.name, "table "+e.Table, f.text)
	}
	return errors.New("no file calls xoptdatabase.WithAutoMigrate, which creates the tables")
}
