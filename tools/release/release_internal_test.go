package main

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/mod/semver"

	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
)

func TestRun_ExitCode(t *testing.T) {
	r := repotest.New(t)
	t.Chdir(r.Root)
	for _, tc := range []struct {
		name string
		args string
		want int
	}{
		{name: "plan", args: "plan --json", want: 0},
		{name: "no combinations", args: "skew", want: 0},
		{name: "unknown command", args: "publish", want: 2},
		{name: "unknown flag", args: "plan --now", want: 2},
		{name: "too many arguments", args: "tag now", want: 2},
		{name: "no argument", args: "notes", want: 2},
		{name: "unknown module", args: "plan nowhere", want: 2},
		{name: "invalid date", args: "prepare --date tomorrow", want: 2},
		{name: "missing section", args: "notes core v9.0.0", want: 1},
		{name: "not prepared", args: "tag", want: 1},
		{name: "prepared", args: "prepare", want: 0},
		{name: "tagged", args: "tag", want: 0},
		{name: "notes", args: "notes core", want: 0},
		{name: "no remote", args: "tag --push", want: 1},
	} {
		if got := run(t.Context(), strings.Fields(tc.args)); got != tc.want {
			t.Errorf("%s: exit code %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestTidy(t *testing.T) {
	t.Run("keeps the hashes of tags", func(t *testing.T) {
		r := repotest.New(t)
		t.Chdir(r.Root)
		tidy := func() {
			t.Helper()
			if code := run(t.Context(), []string{"tidy"}); code != 0 {
				t.Fatalf("exit code %d", code)
			}
		}
		tidy()
		if got := r.Read("sqlite/go.sum"); strings.Contains(got, workspace.Root) {
			t.Errorf("go.sum has hashes of untagged versions:\n%s", got)
		}
		if status := r.Git("status", "--porcelain"); status != "" {
			t.Errorf("tidy changed\n%s", status)
		}
		for _, command := range []string{"prepare", "tag"} {
			if code := run(t.Context(), []string{command}); code != 0 {
				t.Fatalf("%s: exit code %d", command, code)
			}
		}
		r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
		tidy()
		if status := r.Git("status", "--porcelain"); status != "" {
			t.Errorf("tidy changed\n%s", r.Git("diff"))
		}
	})

	t.Run("uses the tagged versions of siblings", func(t *testing.T) {
		r := repotest.New(t)
		t.Chdir(r.Root)
		for _, command := range []string{"prepare", "tag"} {
			if code := run(t.Context(), []string{command}); code != 0 {
				t.Fatalf("%s: exit code %d", command, code)
			}
		}
		r.Change("core", "core/fresh/fresh.go", "package fresh\n")
		r.Change("sqlite", "sqlite/fresh.go",
			"package sqlite\n\nimport _ \"github.com/plinthgo/plinth/core/fresh\"\n")
		before := r.Read("sqlite/go.mod")
		if code := run(t.Context(), []string{"tidy", "sqlite"}); code != 1 ||
			r.Read("sqlite/go.mod") != before {
			t.Errorf("exit code %d, want 1 and nothing changed\n%s", code, r.Git("diff"))
		}
		if code := run(t.Context(), []string{"tidy", "examples"}); code != 0 {
			t.Errorf("tidy of an unreleased module: exit code %d", code)
		}
	})
}

func TestModules_Versions(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the repository")
	}
	root, err := workspace.Find()
	if err != nil {
		t.Fatal(err)
	}
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.InOrder(modules); err != nil {
		t.Error(err)
	}
	for _, m := range modules {
		if m.Released() && !semver.IsValid(m.Version) {
			t.Errorf("%s has version %q", m.Name, m.Version)
		}
	}
	if _, err := os.Stat(root + "/CHANGELOG.md"); err != nil {
		t.Error(err)
	}
}

func TestCommands_Page(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the repository")
	}
	page, err := os.ReadFile("../../docs/content/guide/releases.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range commands().Commands() {
		if !strings.Contains(string(page), "`go run ./release "+command.Name()) {
			t.Errorf("the page lacks %s", command.Name())
		}
	}
}
