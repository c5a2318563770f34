package plan_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
)

// TestMain unsets the test servers, so that the runs do not use them.
func TestMain(m *testing.M) {
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PLINTH_TEST_") {
			_ = os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// newTaggedRepo creates a repository whose modules have tags; core and sqlite have the
// version.
func newTaggedRepo(t *testing.T, version string) *repotest.Repo {
	t.Helper()
	r := repotest.New(t)
	for _, name := range []string{"core", "sqlite"} {
		r.Replace("go.work", "/"+name+" v0.1.0", "/"+name+" "+version)
	}
	for _, name := range []string{"examples", "grpcx", "grpcx/validate", "sqlite"} {
		r.Replace(name+"/go.mod", "/core v0.1.0", "/core "+version)
	}
	r.Replace("examples/go.mod", "/sqlite v0.1.0", "/sqlite "+version)
	r.Git("rm", "-rq", ".changes")
	r.Commit("released")
	for _, tag := range []string{
		"core/" + version, "sqlite/" + version, "grpcx/v0.1.0", "grpcx/validate/v0.1.0",
	} {
		r.Git("tag", "-a", "-m", tag, tag)
	}
	return r
}

func makePlan(t *testing.T, r *repotest.Repo, o plan.Options) *plan.Plan {
	t.Helper()
	p, err := plan.Make(t.Context(), r.Root, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func row(t *testing.T, p *plan.Plan, name string) plan.Module {
	t.Helper()
	i := slices.IndexFunc(p.Modules, func(m plan.Module) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("the plan lacks %s", name)
	}
	return p.Modules[i]
}

// summary returns the released modules of the plan in one line.
func summary(p *plan.Plan) string {
	var parts []string
	for _, m := range p.Modules {
		if m.Next != "" {
			parts = append(parts, strings.TrimSpace(m.Name+" "+string(m.State)+" "+m.Next))
		}
	}
	return strings.Join(parts, ", ")
}

func TestMake_FirstRelease(t *testing.T) {
	p := makePlan(t, repotest.New(t), plan.Options{})
	const want = "core first v0.1.0, grpcx first v0.1.0, grpcx/validate first v0.1.0, sqlite first v0.1.0"
	if got := summary(p); got != want {
		t.Errorf("plan = %s\nwant   %s", got, want)
	}
	if len(p.Skew) != 0 || !p.Clean || len(p.Problems()) != 0 {
		t.Errorf("skew %v, clean %t, problems %q; want none, true, none",
			p.Skew, p.Clean, p.Problems())
	}
	if got, want := row(t, p, "sqlite").Notes, "- The driver,\n  in pure Go.\n"; got != want {
		t.Errorf("notes = %q, want %q", got, want)
	}
}

func TestMake_Bump(t *testing.T) {
	for _, version := range []string{"v0.1.0", "v1.2.3"} {
		r := newTaggedRepo(t, version)
		base := r.Git("rev-parse", "HEAD")
		for _, tc := range []struct {
			name   string
			change func()
			want   map[string]string // the plan, by the version that is published
		}{
			{
				name: "no change", change: func() { r.Write("README.md", "x") },
				want: map[string]string{"v0.1.0": "", "v1.2.3": ""},
			},
			{
				name: "function body", change: func() {
					r.Replace("core/core.go", "func Spare() {}", "func Spare() { println() }")
				},
				want: map[string]string{"v0.1.0": "patch v0.1.1", "v1.2.3": "patch v1.2.4"},
			},
			{
				name:   "internal package",
				change: func() { r.Replace("core/internal/deep/deep.go", "Deep", "Deeper") },
				want:   map[string]string{"v0.1.0": "patch v0.1.1", "v1.2.3": "patch v1.2.4"},
			},
			{
				name:   "test file",
				change: func() { r.Replace("core/core_test.go", "TestNothing", "TestAll") },
				want:   map[string]string{"v0.1.0": "patch v0.1.1", "v1.2.3": "patch v1.2.4"},
			},
			{
				name: "program", change: func() {
					r.Write("core/cmd/hello/main.go", "package main\n\nfunc main() {}\n")
				},
				want: map[string]string{"v0.1.0": "patch v0.1.1", "v1.2.3": "patch v1.2.4"},
			},
			{
				name:   "new function",
				change: func() { r.Write("core/more.go", "package core\n\nfunc More() {}\n") },
				want:   map[string]string{"v0.1.0": "minor v0.2.0", "v1.2.3": "minor v1.3.0"},
			},
			{
				name:   "new package",
				change: func() { r.Write("core/more/more.go", "package more\n") },
				want:   map[string]string{"v0.1.0": "minor v0.2.0", "v1.2.3": "minor v1.3.0"},
			},
			{
				name:   "changed signature",
				change: func() { r.Replace("core/core.go", "Spare()", "Spare(int)") },
				want: map[string]string{
					"v0.1.0": "minor v0.2.0",
					"v1.2.3": "major  another import path",
				},
			},
			{
				name:   "removed package",
				change: func() { r.Git("rm", "-q", "core/old/old.go") },
				want: map[string]string{
					"v0.1.0": "minor v0.2.0",
					"v1.2.3": "major  another import path",
				},
			},
			{
				name:   "version in go.work",
				change: func() { r.Replace("go.work", "/core "+version, "/core v1.9.0") },
				want:   map[string]string{"v0.1.0": "patch v1.9.0", "v1.2.3": "patch v1.9.0"},
			},
			{
				name: "prerelease in go.work", change: func() {
					r.Replace("go.work", "/core "+version, "/core v1.9.0-rc.1")
					r.Write("core/more.go", "package core\n\nfunc More() {}\n")
				},
				want: map[string]string{
					"v0.1.0": "minor v1.9.0-rc.1",
					"v1.2.3": "minor v1.9.0-rc.1",
				},
			},
		} {
			t.Run(version+" "+tc.name, func(t *testing.T) {
				tc.change()
				r.Write(".changes/core/change.md", "- A change.\n")
				core := row(t, makePlan(t, r, plan.Options{SkipSkew: true}), "core")
				got := string(core.Bump) + " " + core.Next
				if strings.Contains(core.Problem, "another import path") {
					got += " another import path"
				}
				if got = strings.TrimRight(got, " "); got != tc.want[version] {
					t.Errorf("core = %q, want %q; API %v, problem %q",
						got, tc.want[version], core.API, core.Problem)
				}
			})
			r.Git("reset", "-q", "--hard", base)
			r.Git("clean", "-fdq")
		}
	}
}

func TestMake_NestedModule(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Change("grpcx/validate", "grpcx/validate/more.go", "package validate\n\nfunc More() {}\n")
	const want = "grpcx/validate changed v0.2.0"
	if got := summary(makePlan(t, r, plan.Options{})); got != want {
		t.Errorf("plan = %s, want %s", got, want)
	}
}

func TestMake_Dependents(t *testing.T) {
	t.Run("keeps a requirement that still works", func(t *testing.T) {
		r := newTaggedRepo(t, "v0.1.0")
		r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
		p := makePlan(t, r, plan.Options{})
		if got, want := summary(p), "core changed v0.2.0"; got != want {
			t.Errorf("plan = %s, want %s", got, want)
		}
		want := plan.Require{
			Module: "core", From: "v0.1.0", To: "v0.2.0",
			Reason: "v0.1.0 builds and passes the tests that need no server with the new version",
		}
		if got := row(t, p, "sqlite").Keeps; len(got) != 1 || got[0] != want {
			t.Errorf("keeps = %v, want %v", got, want)
		}
		if got := row(t, p, "examples").Raises; len(got) != 1 || got[0].To != "v0.2.0" {
			t.Errorf("examples raises = %v, want core v0.2.0", got)
		}
		if len(p.Skew) != 3 { // grpcx, grpcx/validate and sqlite, each as released
			t.Errorf("skew = %v, want three runs", p.Skew)
		}
	})

	t.Run("raises a requirement that a new sibling breaks", func(t *testing.T) {
		for _, tc := range []struct{ name, before, after string }{
			{
				name:   "build fails",
				before: `func Hello() string { return "hello" }`,
				after:  `func Hello(name string) string { return name }`,
			},
			{name: "tests fail", before: `return "hello"`, after: `return "good day"`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				r := newTaggedRepo(t, "v0.1.0")
				r.Replace("core/core.go", tc.before, tc.after)
				r.Write(".changes/core/change.md", "- Changes Hello.\n")
				r.Replace("sqlite/sqlite_test.go", `!= "hello"`, `== ""`)
				if strings.Contains(tc.after, "name") {
					for _, file := range []string{
						"sqlite/sqlite.go", "grpcx/grpcx.go", "grpcx/validate/validate.go",
					} {
						r.Replace(file, "core.Hello()", `core.Hello("hello")`)
					}
				}
				for _, name := range []string{"sqlite", "grpcx", "grpcx/validate"} {
					r.Write(".changes/"+name+"/change.md", "- Follows.\n")
				}
				r.Commit("break")
				p := makePlan(t, r, plan.Options{})
				core, sqlite := row(t, p, "core"), row(t, p, "sqlite")
				if !slices.Contains(core.Breaks, "sqlite v0.1.0") || !strings.Contains(core.Notes,
					"- Does not work with sqlite v0.1.0: upgrade to v0.1.1 or later.\n") {
					t.Errorf("core breaks %q, notes %q", core.Breaks, core.Notes)
				}
				if len(sqlite.Raises) != 1 || sqlite.Raises[0].To != core.Next ||
					sqlite.Next != "v0.1.1" {
					t.Errorf("sqlite = %+v, want v0.1.1 that requires core %s", sqlite, core.Next)
				}
			})
		}
	})
}

func TestMake_InconclusiveSkew(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Write("sqlite/server_test.go",
		"package sqlite\n\nimport \"testing\"\n\nfunc TestServer(t *testing.T) { t.Fatal(\"no server\") }\n")
	r.Commit("x")
	r.Git("tag", "-f", "sqlite/v0.1.0")
	r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
	p := makePlan(t, r, plan.Options{Modules: []string{"core", "sqlite"}})
	sqlite := row(t, p, "sqlite")
	if got := row(t, p, "core").Breaks; len(got) != 0 || sqlite.Next != "" {
		t.Errorf("core breaks %q, sqlite %s; want none", got, sqlite.Next)
	}
	if len(sqlite.Keeps) != 1 ||
		!strings.HasSuffix(sqlite.Keeps[0].Reason, "so the test is inconclusive") {
		t.Errorf("keeps = %+v", sqlite.Keeps)
	}
}

// TestMake_BrokenDependent checks that a raised requirement does not fix a module that
// fails with it.
func TestMake_BrokenDependent(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Replace("core/core.go", `func Hello() string { return "hello" }`,
		`func Hello(name string) string { return name }`)
	r.Write(".changes/core/change.md", "- Changes Hello.\n")
	r.Commit("break")
	p := makePlan(t, r, plan.Options{Modules: []string{"core", "sqlite"}})
	const want = "sqlite: v0.1.0 fails with core v0.2.0, and the tree is unchanged: fix the code"
	if got := p.Problems(); len(got) != 1 || got[0] != want {
		t.Errorf("problems = %q, want %q", got, want)
	}
	if got := row(t, p, "core").Breaks; len(got) != 1 || got[0] != "sqlite v0.1.0" {
		t.Errorf("core breaks %q", got)
	}
}

func TestMake_DriverInterface(t *testing.T) {
	for _, tc := range []struct{ name, before, after string }{
		{
			name:   "driver",
			before: "func (Driver) InterfaceVersion() int { return 1 }",
			after:  "func (Driver) InterfaceVersion() int { return 2 }",
		},
		{
			name:   "engine",
			before: "func capabilities() driver.Capabilities { return driver.Capabilities{Interface: 1} }\n\nvar _ = capabilities",
			after:  "func capabilities() driver.Capabilities { return driver.Capabilities{Interface: 2} }\n\nvar _ = capabilities",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newTaggedRepo(t, "v0.1.0")
			r.Replace("core/driver/driver.go", "type Driver",
				"type Capabilities struct{ Interface int }\n\ntype Driver")
			r.Replace("sqlite/sqlite.go", "func (Driver) InterfaceVersion() int { return 1 }",
				tc.before)
			r.Commit("capabilities")
			r.Git("tag", "-f", "core/v0.1.0")
			r.Git("tag", "-f", "sqlite/v0.1.0")
			r.Replace("core/driver/driver.go", "InterfaceVersion = 1", "InterfaceVersion = 2")
			r.Write(".changes/core/change.md", "- A new interface.\n")
			r.Commit("change the interface")
			p := makePlan(t, r, plan.Options{})
			const want = "sqlite: the driver implements version 1 of the interface of core/driver, which has version 2 in v0.2.0: update the driver"
			if got := p.Problems(); len(got) != 1 || got[0] != want {
				t.Errorf("problems = %q, want %q", got, want)
			}
			r.Replace("sqlite/sqlite.go", tc.before, tc.after)
			r.Write(".changes/sqlite/change.md", "- For the new interface.\n")
			r.Commit("fix")
			p = makePlan(t, r, plan.Options{})
			const changed = "core changed v0.2.0, sqlite changed v0.1.1"
			if got := summary(p); got != changed || len(p.Problems()) > 0 {
				t.Errorf("plan = %s, want %s; problems %q", got, changed, p.Problems())
			}
			const notes = "- For the new interface.\n- Requires core v0.2.0.\n"
			if got := row(t, p, "sqlite").Notes; got != notes {
				t.Errorf("notes = %q, want %q", got, notes)
			}
		})
	}
}
