//go:build unix

package readme_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// plugin is the module that the test requires and upgrades.
const plugin = "dbplugins/sqlite"

// TestUpgrade_OneModule upgrades the driver of a new service with an empty module cache
// and a module proxy, and checks that no other version changes.
func TestUpgrade_OneModule(t *testing.T) {
	c := newConsumer(t)
	core, sqlite := c.modules["core"], c.modules[plugin]
	c.run("go mod init example.com/notes\ngo get " + core.Path() + "@" + core.Version + " " +
		sqlite.Path() + "@" + sqlite.Version)
	c.write("main.go", Program(c.blocks))
	c.run("go mod tidy\nDATABASE_DRIVER=sqlite DATABASE_PATH=notes.db go run .")
	c.sendRequests()
	before := c.required()
	if before[core.Path()] != core.Version || before[sqlite.Path()] != sqlite.Version {
		t.Fatalf("go.mod requires %v, want core %s and %s %s",
			before, core.Version, plugin, sqlite.Version)
	}

	c.publish("core", "")
	c.publish(plugin, "this is the upgraded driver")
	c.run("go get " + sqlite.Path() + "@" + next(sqlite))
	after := c.required()
	for path, version := range before {
		if path == sqlite.Path() {
			version = next(sqlite)
		}
		if after[path] != version {
			t.Errorf("after the upgrade go.mod requires %s %q, want %s", path, after[path], version)
		}
	}
	if len(after) != len(before) {
		t.Errorf("after the upgrade go.mod requires %d modules, before %d", len(after), len(before))
	}
	c.run("DATABASE_DRIVER=sqlite DATABASE_PATH=notes.db go run .")
	c.sendRequests()
	if !strings.Contains(c.session.Log(), "this is the upgraded driver") {
		t.Errorf("the service was not built with the new driver:\n%s", c.session.Log())
	}
}

// TestUpgrade_AllModules runs the commands of docs/content/guide/upgrading.md.
func TestUpgrade_AllModules(t *testing.T) {
	c := newConsumer(t)
	core, sqlite := c.modules["core"], c.modules[plugin]
	c.run("go mod init example.com/notes\ngo get " + core.Path() + "@" + core.Version + " " +
		sqlite.Path() + "@" + sqlite.Version)
	c.write("main.go", Program(c.blocks))
	c.run("go mod tidy")
	c.publish("core", "")
	c.publish(plugin, "upgraded")
	page := Blocks(c.read("docs/content/guide/upgrading.md"))
	outdated := slices.IndexFunc(page,
		func(b Block) bool { return strings.HasPrefix(b.Text, "go list -m -u ") })
	all := slices.IndexFunc(page,
		func(b Block) bool { return strings.HasPrefix(b.Text, "go get $(") })
	if outdated < 0 || all < 0 {
		t.Fatal("the page has no command that lists the versions, or no command that upgrades all modules")
	}
	if out := c.run(page[outdated].Text); !strings.Contains(out,
		sqlite.Path()+" "+sqlite.Version+" ["+next(sqlite)+"]") {
		t.Errorf("%s prints\n%s\nwant the new version of %s", page[outdated].Text, out, plugin)
	}
	c.run(page[all].Text)
	for _, m := range []workspace.Module{core, sqlite} {
		if got := c.required()[m.Path()]; got != next(m) {
			t.Errorf("after the upgrade go.mod requires %s %q, want %s", m.Name, got, next(m))
		}
	}
	c.run("go build .")
}

// next returns a version after the one of the working tree.
func next(m workspace.Module) string { return semver.MajorMinor(m.Version) + ".999" }

// publish publishes the next version of a module. If message is set, the package in the
// root directory of the module prints it at startup.
func (c *consumer) publish(name, message string) {
	c.t.Helper()
	overlay := modproxy.Overlay{}
	if message != "" {
		overlay["upgraded.go"] = []byte("package " + filepath.Base(name) +
			"\n\nfunc init() { println(\"" + message + "\") }\n")
	}
	c.check(modproxy.AddWith(c.t.Context(), c.sandbox.Proxy(), c.modules[name],
		next(c.modules[name]), overlay))
}

// consumer is a user who has only the module proxy and README.md.
type consumer struct {
	t       *testing.T
	root    string
	sandbox *sandbox.Sandbox
	modules map[string]workspace.Module
	blocks  []Block
	session *Session
}

func newConsumer(t *testing.T) *consumer {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	root, err := workspace.Find()
	if err != nil {
		t.Skip("no modules to publish: ", err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	c := &consumer{t: t, root: root, modules: map[string]workspace.Module{}}
	c.blocks = Blocks(c.read("README.md"))
	for _, m := range modules {
		c.modules[m.Name] = m
	}
	if c.sandbox, err = sandbox.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.check(c.sandbox.Close()) })
	c.check(c.sandbox.Publish(t.Context(), modules...))
	c.session, err = NewSession(t.Context(), t.TempDir(), ConsumerEnv(c.sandbox))
	c.check(err)
	t.Cleanup(func() { c.check(c.session.Stop()) })
	return c
}

func (c *consumer) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// read returns a file of the repository.
func (c *consumer) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(name)))
	c.check(err)
	return string(text)
}

func (c *consumer) run(block string) string {
	c.t.Helper()
	out, err := c.session.Run(c.t.Context(), block)
	c.check(err)
	return out
}

func (c *consumer) write(name, text string) {
	c.t.Helper()
	c.check(os.WriteFile(filepath.Join(c.session.Dir(), name), []byte(text), 0o600))
}

// sendRequests sends the requests of README.md to the service and compares the responses
// with those of README.md.
func (c *consumer) sendRequests() {
	c.t.Helper()
	sent := 0
	for i, b := range c.blocks {
		if !strings.HasPrefix(b.Text, "curl ") {
			continue
		}
		sent++
		if got, want := Normalize(c.run(b.Text)), Normalize(c.blocks[i+1].Text); got != want {
			c.t.Errorf("the response to line %d of README.md is\n%s\nwant\n%s", b.Line, got, want)
		}
	}
	if sent == 0 {
		c.t.Error("README.md has no request")
	}
}

// required returns the versions that go.mod requires, by module path.
func (c *consumer) required() map[string]string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.session.Dir(), "go.mod"))
	c.check(err)
	file, err := modfile.Parse("go.mod", text, nil)
	c.check(err)
	all := map[string]string{}
	for _, r := range file.Require {
		all[r.Mod.Path] = r.Mod.Version
	}
	return all
}
