package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// Edit is a set of changes to a service.
type Edit struct {
	// Changes are the file changes, sorted by path.
	Changes []Change `json:"changes"`
	// Env are the variables that select a backend. Secrets are empty.
	Env map[string]string `json:"env,omitempty"`
	// Left are the steps that remain for the user.
	Left []string `json:"left,omitempty"`
}

// AddBackend plans the addition of a backend to the service at root: import, go.mod,
// option, .env.example and Compose. It does not change existing code. New requirements
// use the versions in versions.
func AddBackend(root, modulePath string, b catalog.Backend, versions Versions) (*Edit, error) {
	a := &backendAdder{
		plan: newPlan(root), name: serviceName(modulePath), backend: b, versions: versions,
		Edit: Edit{Env: map[string]string{}},
	}
	for _, step := range []func() error{a.code, a.goMod, a.envExample, a.compose} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, v := range b.Local(a.name) {
		a.Env[v.Key] = v.Value
	}
	a.Changes = a.list()
	return &a.Edit, nil
}

type backendAdder struct {
	*plan
	Edit

	name       string // the name of the service
	backend    catalog.Backend
	versions   Versions
	newModules []string // modules that go.mod must require
}

// code imports the driver, and adds the option that opens the backend if it is missing.
func (a *backendAdder) code() error {
	files, err := a.goFiles()
	if err != nil {
		return err
	}
	if err := a.importPlugin(files); err != nil {
		return err
	}
	openers := []string{"WithDatabase", "WithRequiredDatabase"}
	option := "xoption.WithDatabase(xoptdatabase.FromEnv())"
	optionPackage := "xoptdatabase"
	substitute := catalog.Databases()[0].Module // tests use it instead of the backend
	if a.backend.Kind == catalog.Cache {
		openers = []string{"WithCache"}
		option = "xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen())"
		optionPackage = "xoptcache"
		substitute = catalog.Caches()[0].Module
	}
	if slices.ContainsFunc(files,
		func(f *goFile) bool { return !f.isTest() && len(f.calls(openers...)) > 0 }) {
		return nil
	}
	if files, err = a.goFiles(); err != nil { // with the new import
		return err
	}
	optionPath := catalog.Project + "/core/major/xoption/" + optionPackage
	if err := a.addOption(files, option, optionPath); err != nil {
		return err
	}
	return a.importForTests(files, substitute)
}

// importPlugin adds the blank import to the file that imports other drivers.
func (a *backendAdder) importPlugin(files []*goFile) error {
	var target *goFile
	for _, f := range files {
		if f.isTest() {
			continue
		}
		if f.imported(a.backend.Module) != "" {
			return nil
		}
		if target == nil && slices.ContainsFunc(f.tree.Imports, isPlugin) {
			target = f
		}
	}
	a.newModules = append(a.newModules, a.backend.Module)
	what := "import of " + path.Base(a.backend.Module)
	if target != nil {
		f, err := target.withImport("_", a.backend.Module)
		if err != nil {
			return err
		}
		return a.write(f.name, what, f.text)
	}
	text, err := render("templates/service/plugins.go.tmpl",
		struct{ Plugins []string }{[]string{a.backend.Module}})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f *goFile) bool {
		return path.Dir(f.name) == "." && f.tree.Name.Name == "main"
	}) {
		return errors.New("no file imports a driver, and the directory of go.mod has no main package to import it")
	}
	return a.create(Files{"plugins.go": text})
}

func isPlugin(spec *ast.ImportSpec) bool {
	path := importPath(spec)
	return within(catalog.Project+"/dbplugins", path) ||
		within(catalog.Project+"/cacheplugins", path)
}

// addOption inserts an option before WithRoute in the first list of options that contains
// it.
func (a *backendAdder) addOption(files []*goFile, option, importedPath string) error {
	for _, f := range files {
		calls := f.calls("WithRoute")
		if f.isTest() || len(calls) == 0 {
			continue
		}
		f, err := f.insert(calls[0].Pos(), option+",\n")
		if err != nil {
			return err
		}
		if f, err = f.withImport("", importedPath); err != nil {
			return err
		}
		return a.write(f.name, "option", f.text)
	}
	a.Left = append(a.Left, "pass "+option+" to xreg.Register")
	return nil
}

// importForTests imports the in-memory driver that plinthtest uses instead of the
// backend.
func (a *backendAdder) importForTests(files []*goFile, plugin string) error {
	if slices.ContainsFunc(files, func(f *goFile) bool { return f.imported(plugin) != "" }) ||
		plugin == a.backend.Module {
		return nil
	}
	name := "plugins_test.go"
	if old, err := a.read(name); err != nil || old != nil {
		a.Left = append(a.Left, fmt.Sprintf("in a test of the main package, import _ %q", plugin))
		return err
	}
	a.newModules = append(a.newModules, plugin)
	text := fmt.Sprintf("package main\n\nimport _ %q // tests use it instead of a server\n", plugin)
	return a.create(Files{name: []byte(text)})
}

// goMod adds the missing requirements at the versions that this program was built with.
func (a *backendAdder) goMod() error {
	text, err := a.read("go.mod")
	if err != nil || len(a.newModules) == 0 {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	for _, path := range a.newModules {
		if !slices.ContainsFunc(file.Require,
			func(r *modfile.Require) bool { return r.Mod.Path == path }) {
			file.AddNewRequire(path, a.versions[path], false)
		}
	}
	file.SetRequireSeparateIndirect(file.Require)
	file.Cleanup()
	out, err := file.Format()
	if err != nil {
		return err
	}
	return a.write("go.mod", "requirement", out)
}

// envExample appends the variables that select the backend.
func (a *backendAdder) envExample() error {
	text, err := a.read(".env.example")
	if err != nil || text == nil {
		return err
	}
	settings := a.backend.Local(a.name)
	choice := settings[0].Key + "=" + settings[0].Value
	for line := range strings.Lines(string(text)) {
		if strings.TrimLeft(strings.TrimSpace(line), "# ") == choice {
			return nil
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n## %s as %s\n\n",
		strings.TrimRight(string(text), "\n"), a.backend.Title, a.backend.Kind)
	for _, v := range settings {
		fmt.Fprintf(&b, "# %s=%s\n", v.Key, v.Value)
	}
	return a.write(".env.example", "variables", []byte(b.String()))
}
