package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/plinthgo/plinth/tools/plinth/internal/catalog"
)

// Added is what becomes of a service that gets a backend.
type Added struct {
	Changes Changes
	// Env are the variables that choose the backend. A secret has no value.
	Env []catalog.Value
	// Left is what people have to do by themselves.
	Left []string
}

// AddBackend plans a backend for the service at root: import, go.mod, option, .env.example, Compose. What is there already is
// left as it is. A module that is required from then on is so at its version of versions.
func AddBackend(root, modulePath string, b catalog.Backend, versions Versions) (*Added, error) {
	a := &adding{plan: newPlan(root), module: modulePath, name: ServiceName(modulePath), backend: b, versions: versions}
	for _, step := range []func() error{a.code, a.goMod, a.envExample, a.compose} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return &Added{Changes: a.list(), Env: b.Local(a.name), Left: a.left}, nil
}

type adding struct {
	*plan

	module, name string
	backend      catalog.Backend
	versions     Versions
	needed       []string // modules that the service imports from now on
	left         []string
}

// code imports the plugin, and opens a backend of its kind where nothing does.
func (a *adding) code() error {
	files, err := a.goFiles(".", anyFile)
	if err != nil {
		return err
	}
	if err := a.importPlugin(files); err != nil {
		return err
	}
	opens, option := []string{"WithDatabase", "WithRequiredDatabase"}, "xoption.WithDatabase(xoptdatabase.FromEnv())"
	alias, options := "xoptdatabase", "/core/major/xoption/xoptdatabase"
	stand := catalog.Databases()[0] // what a test replaces the backend with
	if a.backend.Kind == catalog.Cache {
		opens, option = []string{"WithCache"}, "xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen())"
		alias, options = "xoptcache", "/core/major/xoption/xoptcache"
		stand = catalog.Caches()[0]
	}
	for _, f := range files {
		if !isTest(f.name) && len(f.calls(opens...)) > 0 {
			return nil
		}
	}
	if err := a.addOption(files, option, alias, catalog.Project+options); err != nil {
		return err
	}
	return a.importForTests(files, stand.Module)
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.go") }

// importPlugin adds the blank import where its like are.
func (a *adding) importPlugin(files []*goFile) error {
	var home *goFile
	for _, f := range files {
		if isTest(f.name) {
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
		f, err := home.withImport(a.module, "_", a.backend.Module)
		if err != nil {
			return err
		}
		return a.write(f.name, what, f.text)
	}
	text, err := render("plugins.go", "service/plugins.go", a.module, struct{ Plugins []string }{[]string{a.backend.Module}})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(files, func(f *goFile) bool { return path.Dir(f.name) == "." && f.tree.Name.Name == "main" }) {
		return errors.New("no file imports a plugin, and the folder of go.mod holds no main package in which to do it")
	}
	return a.create(Files{"plugins.go": text})
}

func isPlugin(spec *ast.ImportSpec) bool {
	return within(catalog.Project+"/dbplugins", importPath(spec)) || within(catalog.Project+"/cacheplugins", importPath(spec))
}

// addOption puts an option before that of the routes, in the first list of options that has one.
func (a *adding) addOption(files []*goFile, option, alias, importedPath string) error {
	for _, f := range files {
		calls := f.calls("WithRoute")
		if isTest(f.name) || len(calls) == 0 {
			continue
		}
		f, err := f.insert(f.offset(calls[0].Pos()), option+",\n")
		if err != nil {
			return err
		}
		if f, err = f.withImport(a.module, alias, importedPath); err != nil {
			return err
		}
		return a.write(f.name, "option that opens it", f.text)
	}
	a.left = append(a.left, "give "+option+" to xreg.Register")
	return nil
}

// importForTests lets plinthtest replace the backend with one in memory.
func (a *adding) importForTests(files []*goFile, plugin string) error {
	if slices.ContainsFunc(files, func(f *goFile) bool { return f.imported(plugin) != "" }) || plugin == a.backend.Module {
		return nil
	}
	name := "plugins_test.go"
	if old, err := a.read(name); err != nil || old != nil {
		a.left = append(a.left, fmt.Sprintf("let a test of the main package import _ %q", plugin))
		return err
	}
	a.needed = append(a.needed, plugin)
	text := fmt.Sprintf("package main\n\nimport _ %q // what tests replace a server with\n", plugin)
	return a.create(Files{name: []byte(text)})
}

// goMod requires the modules at the versions that this program was built with; one that is required already stays.
func (a *adding) goMod() error {
	text, err := a.read("go.mod")
	if err != nil {
		return err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return err
	}
	if len(a.needed) == 0 {
		return nil
	}
	requires := make([]*modfile.Require, 0, len(file.Require)+len(a.needed))
	for _, r := range file.Require {
		direct := slices.Contains(a.needed, r.Mod.Path)
		requires = append(requires, &modfile.Require{Mod: r.Mod, Indirect: r.Indirect && !direct})
	}
	for _, path := range a.needed {
		if !slices.ContainsFunc(requires, func(r *modfile.Require) bool { return r.Mod.Path == path }) {
			requires = append(requires, &modfile.Require{Mod: module.Version{Path: path, Version: a.versions[path]}})
		}
	}
	file.SetRequireSeparateIndirect(requires)
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
	choice := a.choice()
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "#")) == choice {
			return nil
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n## %s, where it is the %s\n\n", strings.TrimRight(string(text), "\n"), a.backend.Title, a.backend.Kind)
	for _, v := range a.settings() {
		fmt.Fprintf(&b, "# %s=%s\n", v.Key, v.Value)
	}
	return a.write(".env.example", "its variables", []byte(b.String()))
}

// settings are the variables that choose the backend.
func (a *adding) settings() []catalog.Value { return a.backend.Local(a.name) }

func (a *adding) choice() string {
	first := a.settings()[0]
	return first.Key + "=" + first.Value
}
