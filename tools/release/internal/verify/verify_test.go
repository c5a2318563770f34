package verify_test

import (
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
	"github.com/plinthgo/plinth/tools/release/internal/verify"
)

const limits = `
platform: any
libraries: { calls: github.com/plinthgo/plinth/grpcx }
consumers:
  - { name: core, modules: [core], program: hello/core, linked: 1 }
  - { name: sqlite, modules: [core, sqlite], program: hello/sqlite, linked: 2 }
  - { name: grpcx, modules: [grpcx], program: hello/grpcx, links: [calls] }
  - { name: validate, modules: [grpcx, grpcx/validate], program: hello/validate, links: [calls] }
`

// newRepo creates a valid repository without tags.
func newRepo(t *testing.T) *repotest.Repo {
	t.Helper()
	r := repotest.New(t)
	for _, module := range []string{"core", "grpcx", "grpcx/validate", "sqlite", "examples"} {
		r.Write(module+"/LICENSE", "Apache License\n")
	}
	r.Write("tools/release/consumers.yaml", limits)
	r.Write("hello/core/main.go", program(`_ "github.com/plinthgo/plinth/core"`))
	r.Write("hello/sqlite/main.go", program(`"github.com/plinthgo/plinth/hello/internal/greet"`,
		`_ "github.com/plinthgo/plinth/sqlite"`)+"\nvar _ = greet.Greet\n")
	r.Write("hello/internal/greet/greet.go",
		"package greet\n\nimport \"github.com/plinthgo/plinth/core\"\n\nvar Greet = core.Hello()\n")
	r.Write("hello/grpcx/main.go", program(`_ "github.com/plinthgo/plinth/grpcx"`))
	r.Write("hello/validate/main.go", program(`_ "github.com/plinthgo/plinth/grpcx"`,
		`_ "github.com/plinthgo/plinth/grpcx/validate"`))
	r.Commit("consumers")
	return r
}

// program returns a program with the imports.
func program(imports ...string) string {
	return "package main\n\nimport (\n\t" + strings.Join(imports, "\n\t") +
		"\n)\n\nfunc main() {}\n"
}

// release tags the first version of every module.
func release(r *repotest.Repo) {
	r.Commit("first release")
	for _, module := range []string{"core", "grpcx", "grpcx/validate", "sqlite"} {
		r.Git("tag", module+"/v0.1.0")
	}
}

// run verifies the named modules, or all.
func run(t *testing.T, r *repotest.Repo, names ...string) (string, error) {
	t.Helper()
	modules, err := workspace.Modules(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	selected, err := workspace.Choose(modules, names)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := sandbox.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := tree.Publish(t.Context(), modules...); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = verify.Run(t.Context(), verify.Options{
		Root: r.Root, Chosen: selected, Tree: tree, Out: &out,
	})
	return out.String(), err
}

func TestVerify_ValidRepository(t *testing.T) {
	r := newRepo(t)
	for _, state := range []string{"without tags", "tagged", "changed since", "raised"} {
		switch state {
		case "tagged":
			release(r)
		case "changed since":
			r.Write("core/core_test.go", "package core_test\n")
			r.Write("core/new.go", "package core\n\nconst New = 1\n")
			r.Write("examples/new.go",
				"package main\n\nimport \"github.com/plinthgo/plinth/core\"\n\nconst _ = core.New\n")
		case "raised":
			r.Replace("go.work", "replace (",
				"replace (\n\tgithub.com/plinthgo/plinth/core v0.2.0 => ./core")
			r.Replace("sqlite/go.mod", "core v0.1.0", "core v0.2.0")
			r.Replace("examples/go.mod", "core v0.1.0", "core v0.2.0")
			r.Write("sqlite/new.go",
				"package sqlite\n\nimport \"github.com/plinthgo/plinth/core\"\n\nconst New = core.New\n")
		}
		out, err := run(t, r)
		if err != nil {
			t.Fatalf("%s: %v\n%s", state, err, out)
		}
		for _, want := range []string{"core ", "examples ", "program sqlite ", "all together "} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the output lacks %q:\n%s", state, want, out)
			}
		}
	}
}

func TestVerify_InvalidModule(t *testing.T) {
	const readOnly = "tests write to the module directory"
	writes := readOnly
	if os.Getuid() != 0 {
		writes = "permission denied"
	}
	for _, tc := range []struct {
		name   string
		change func(r *repotest.Repo)
		want   []string
	}{
		{"requirement of a sibling without a tag", func(r *repotest.Repo) {
			r.Replace("sqlite/go.mod", "core v0.1.0", "core v0.2.0")
		}, []string{
			"requires github.com/plinthgo/plinth/core@v0.2.0, which has no tag",
			"require v0.1.0, or replace that version",
		}},
		{"API that the required core lacks", func(r *repotest.Repo) {
			release(r)
			r.Write("core/new.go", "package core\n\nfunc New() string { return \"new\" }\n")
			r.Replace("sqlite/sqlite.go", "core.Hello()", "core.New()")
		}, []string{
			"undefined: core.New", "hint: the module was tested with its requirement core v0.1.0",
			"add the next version of core to go.work",
		}},
		{"package that the required core lacks", func(r *repotest.Repo) {
			release(r)
			r.Write("core/fresh/fresh.go", "package fresh\n")
			r.Write("sqlite/fresh.go",
				"package sqlite\n\nimport _ \"github.com/plinthgo/plinth/core/fresh\"\n")
		}, []string{
			"+ require github.com/plinthgo/plinth/core v0.1.1",
			"hint: the module was tested with its requirement core v0.1.0",
		}},
		{"replace in go.mod", func(r *repotest.Repo) {
			r.Write("sqlite/go.mod",
				r.Read("sqlite/go.mod")+"\nreplace github.com/plinthgo/plinth/core => ../core\n")
		}, []string{"has a replace of github.com/plinthgo/plinth/core", "move it to go.work"}},
		{"file of another module in a test", func(r *repotest.Repo) {
			r.Write("sqlite/other_test.go", statTest("../core/core.go"))
		}, []string{
			"stat ../core/core.go", "hint: the tests ran in the module's zip",
			"move the required files into the module",
		}},
		{"file of the repository in a test", func(r *repotest.Repo) {
			r.Write("sqlite/other_test.go", statTest("../modules.txt"))
		}, []string{"stat ../modules.txt", "hint: the tests ran in the module's zip"}},
		{"test that creates a file in its module", func(r *repotest.Repo) {
			r.Write("sqlite/write_test.go",
				fileTest("err := os.WriteFile(\"left.txt\", nil, 0o600)"))
		}, []string{writes, "left.txt"}},
		{"test that changes a file of its module", func(r *repotest.Repo) {
			r.Write("sqlite/write_test.go",
				fileTest("err := os.WriteFile(\"sqlite.go\", nil, 0o600)"))
		}, []string{writes, "sqlite.go"}},
		{"go.mod with an unused requirement", func(r *repotest.Repo) {
			r.Write("sqlite/go.mod",
				r.Read("sqlite/go.mod")+"\nrequire github.com/plinthgo/plinth/grpcx v0.1.0\n")
		}, []string{"go.mod is not tidy: run make tidy", "grpcx v0.1.0"}},
		{"import that go.mod does not have", func(r *repotest.Repo) {
			r.Write("sqlite/more.go",
				"package sqlite\n\nimport _ \"github.com/plinthgo/plinth/grpcx\"\n")
		}, []string{
			"go.mod is not tidy: run make tidy",
			"+ github.com/plinthgo/plinth/grpcx v0.1.0",
		}},
		{"forbidden library", func(r *repotest.Repo) {
			r.Replace("sqlite/go.mod", "core v0.1.0",
				"core v0.1.0\n\nrequire github.com/plinthgo/plinth/grpcx v0.1.0")
			r.Write("sqlite/more.go",
				"package sqlite\n\nimport _ \"github.com/plinthgo/plinth/grpcx\"\n")
		}, []string{
			"the program links github.com/plinthgo/plinth/grpcx, which is forbidden for consumers of [core sqlite]",
			"the program links 3 modules, but its limit",
		}},
		{"toolchain", func(r *repotest.Repo) {
			r.Replace("sqlite/go.mod", "go 1.26.0", "go 1.26.0\n\ntoolchain go1.27.0")
		}, []string{"has a toolchain line", "remove it"}},
		{"wrong Go version", func(r *repotest.Repo) {
			r.Replace("sqlite/go.mod", "go 1.26.0", "go 1.25.0")
		}, []string{"lacks go 1.26.0: run go mod edit -go=1.26.0"}},
		{"wrong license", func(r *repotest.Repo) {
			r.Write("sqlite/LICENSE", "mine\n")
		}, []string{"LICENSE with the Apache License is missing"}},
		{"program that needs cgo", func(r *repotest.Repo) {
			r.Write("sqlite/cgo.go", "package sqlite\n\nimport \"C\"\n\nconst Native = true\n")
			r.Replace("hello/sqlite/main.go", "_ \"github.com/plinthgo/plinth/sqlite\"",
				"\"github.com/plinthgo/plinth/sqlite\"")
			r.Write("hello/sqlite/main.go",
				r.Read("hello/sqlite/main.go")+"\nvar _ = sqlite.Native\n")
		}, []string{"undefined: sqlite.Native"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			tc.change(r)
			out, err := run(t, r, "sqlite")
			if err == nil {
				t.Fatalf("Run found no problem:\n%s", out)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q:\n%v", want, err)
				}
			}
		})
	}
}

// statTest returns a test file that requires another file.
func statTest(name string) string { return fileTest("_, err := os.Stat(\"" + name + "\")") }

// fileTest returns a test file with a statement that sets err.
func fileTest(statement string) string {
	return "package sqlite\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestFiles(t *testing.T) {\n\tif " + statement + "; err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n"
}

func TestVerify_FailingTest(t *testing.T) {
	r := newRepo(t)
	r.Replace("sqlite/sqlite_test.go", "!=", "==")
	out, err := run(t, r, "sqlite")
	if err == nil || !strings.Contains(err.Error(), "--- FAIL: TestName") {
		t.Errorf("error = %v, want the name of the test\n%s", err, out)
	}
	if !strings.Contains(out, "FAIL") ||
		!strings.Contains(out, "program sqlite                 ok") {
		t.Errorf("output = %s, want a failed module and a successful program", out)
	}
}

func TestVerify_Examples(t *testing.T) {
	r := newRepo(t)
	release(r)
	r.Replace("core/core.go", "func Hello()", "func Greet()")
	_, err := run(t, r, "examples")
	if err == nil || !strings.Contains(err.Error(), "undefined: core.Hello") {
		t.Errorf("error = %v, want an error for the removed function", err)
	}
}

func TestCheck_Size(t *testing.T) {
	r := newRepo(t)
	r.Replace("tools/release/consumers.yaml", "platform: any",
		"platform: "+runtime.GOOS+"/"+runtime.GOARCH)
	r.Replace("tools/release/consumers.yaml", "hello/sqlite,", "hello/sqlite, megabytes: 0.2,")
	_, err := run(t, r, "sqlite")
	if err == nil || !strings.Contains(err.Error(),
		"but its limit in tools/release/consumers.yaml is 0.2 MB") {
		t.Errorf("error = %v, want the limit", err)
	}
}

func TestReadLimits(t *testing.T) {
	for _, tc := range []struct{ name, before, after, want string }{
		{
			"module without a program",
			"  - { name: sqlite, modules: [core, sqlite], program: hello/sqlite, linked: 2 }\n", "",
			"no consumer uses module sqlite",
		},
		{
			"unknown module", "[core, sqlite]", "[core, unknown, sqlite]",
			`sqlite: module "unknown"`,
		},
		{
			"unreleased module", "[core, sqlite]", "[examples, sqlite]",
			`sqlite: module "examples"`,
		},
		{"unknown library", "[calls]", "[unknown]", `grpcx: library "unknown"`},
		{"unknown field", "linked: 1", "linkd: 1", "linkd"},
		{"missing program", "hello/sqlite", "hello/unknown", "no Go files in"},
		{
			"unlinked library", "[core, sqlite], program: hello/sqlite",
			"[core, sqlite], program: hello/sqlite, links: [calls]", "the program does not link",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRepo(t)
			r.Replace("tools/release/consumers.yaml", tc.before, tc.after)
			if _, err := run(t, r, "sqlite"); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestInstall(t *testing.T) {
	r := newRepo(t)
	r.Write("tools/release/consumers.yaml",
		limits+"commands: [{ module: core, package: cmd/hello }]\n")
	if out, err := run(t, r, "core"); err != nil ||
		!strings.Contains(out, "install core/cmd/hello") {
		t.Errorf("verify = %v\n%s", err, out)
	}
	r.Write("tools/release/consumers.yaml",
		limits+"commands: [{ module: core, package: cmd/unknown }]\n")
	if _, err := run(t, r, "core"); err == nil ||
		!strings.Contains(err.Error(), "does not contain package") {
		t.Errorf("verify = %v, want an error for the missing package", err)
	}
}

func TestOldest(t *testing.T) {
	if strings.HasPrefix(runtime.Version(), "go1.26.") {
		t.Skip("runs with the oldest Go already")
	}
	r := newRepo(t)
	// new in Go 1.27
	r.Write("core/new.go", "package core\n\nimport \"strings\"\n\nfunc Last(s string) { _, _, _ = strings.CutLast(s, \"/\") }\n")
	out, err := run(t, r)
	if strings.Contains(out, "NOT TESTED WITH GO") {
		t.Skip(out)
	}
	if err == nil || !strings.Contains(err.Error(),
		"with Go 1.26.0, the oldest supported version") ||
		!strings.Contains(err.Error(), "undefined: strings.CutLast") {
		t.Errorf("error = %v, want an error for the function of Go 1.27", err)
	}
}
