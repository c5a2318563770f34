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

// Edit is what is to become of a service.
type Edit struct {
	// Changes are those of its files, in the order of their paths.
	Changes []Change `json:"changes"`
	// Env are the variables that choose a backend. A secret has no value.
	Env map[string]string `json:"env,omitempty"`
	// Left is what people have to do by themselves.
	Left []string `json:"left,omitempty"`
}

// AddBackend plans a backend for the service at root: import, go.mod, option,
// .env.example, Compose. What is there already is left as it is. A module that is
// required from then on is so at its version of versions.
func AddBackend(root, modulePath string, b catalog.Backend, versions Versions) (*Edit, error) {
	a := &adding{
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

type adding struct {
	*plan
	Edit

	name     string // of the service
	backend  catalog.Backend
	versions Versions
	needed   []string // modules that the service imports from now on
}

// code imports the plugin, and opens a backend of its kind where nothing does.
func (a *adding) code() error {
	files, err := a.goFiles()
	if err != nil {
		return err
	}
	if err := a.importPlugin(files); err != nil {
		return err
	}
	opens, option := []string{"WithDatabase", "WithRequiredDatabase"},
		"xoption.WithDatabase(xoptdatabase.FromEnv())"
	options := "xoptdatabase"
	standIn := catalog.Databases()[0].Module // what a test replaces the backend with
	if a.backend.Kind == catalog.Cache {
		opens, option = []string{"WithCache"},
			"xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen())"
		options = "xoptcache"
		standIn = catalog.Caches()[0].Module
	}
	if slices.ContainsFunc(files,
		func(f *goFile) bool { return !f.isTest() && len(f.calls(opens...)) > 0 }) {
		return nil
	}
	if files, err = a.goFiles(); err != nil { // with the import
		return err
	}
	if err := a.addOption(files, option,
		catalog.Project+"/core/major/xoption/"+options); err != nil {
		return err
	}
	return a.importForTests(files, standIn)
}

// importPlugin adds the blank import where its like are.
func (a *adding) importPlugin(files []*goFile) error {
	var home *goFile
	for _, f := range files {
		if f.isTest() {
			continue
		}
		if f.imported(a.backend.Module) != "" {
			return nil
		}
		if home == nil && slices.ContainsFunc(f.tree.Imports, isPlugin) {
			home = f
		}
	}
	a.needed = append(a.needed, a.backend.Module)
	what := "import of " + path.Base(a.backend.Module)
	if home != nil {
		f, err := home.withImport("_", a.backend.Module)
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
		return errors.New("no file imports a plugin, and the folder of go.mod holds no main package in which to do it")
	}
	return a.create(Files{"plugins.go": text})
}

func isPlugin(spec *ast.ImportSpec) bool {
	path := importPath(spec)
	return within(catalog.Project+"/dbplugins", path) ||
		within(catalog.Project+"/cacheplugins", path)
}

// addOption puts an option before that of the routes, in the first list of options that
// has one.
func (a *adding) addOption(files []*goFile, option, importedPath string) error {
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
		return a.write(f.name, "option that opens it", f.text)
	}
	a.Left = append(a.Left, "give "+option+" to xreg.Register")
	return nil
}

// importForTests lets plinthtest replace the backend with one in memory.
func (a *adding) importForTests(files []*goFile, plugin string) error {
	if slices.ContainsFunc(files, func(f *goFile) bool { return f.imported(plugin) != "" }) ||
		plugin == a.backend.Module {
		return nil
	}
	name := "plugins_test.go"
	if old, err := a.read(name); err != nil || old != nil {
		a.Left = append(a.Left, fmt.Sprintf("let a test of the main package import _ %q", plugin))
		return err
	}
	a.needed = append(a.needed, plugin)
	text := fmt.Sprintf("package main\n\nimport _ %q // what tests replace a server with\n", plugin)
	return a.create(Files{name: []byte(text)})
}

// goMod requires the modules at the versions that this program was built with; one that
// is required already stays.
func (a *adding) goMod() error {
	text, err := a.read("go.mod")
	if err != nil || len(a.needed) == 0 {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	for _, path := range a.needed {
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

// envExample appends the variables that choose the backend.
func (a *adding) envExample() error {
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
	fmt.Fprintf(&b, "%s\n\n## %s, where it is the %s\n\n",
		strings.TrimRight(string(text), "\n"), a.backend.Title, a.backend.Kind)
	for _, v := range settings {
		fmt.Fprintf(&b, "# %s=%s\n", v.Key, v.Value)
	}
	return a.write(".env.example", "its variables", []byte(b.String()))
}
