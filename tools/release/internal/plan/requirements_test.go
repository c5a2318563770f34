package plan_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/release/internal/api"
	"github.com/plinthgo/plinth/tools/release/internal/plan"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
)

// TestMake_APISiblings changes core so that the driver does not build with it or exports
// less. A driver that keeps the old core is not affected.
func TestMake_APISiblings(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Write("core/base.go", "package core\n\ntype Base struct{}\n\nfunc (Base) Old() {}\n")
	r.Write("sqlite/base.go", "package sqlite\n\nimport \"github.com/plinthgo/plinth/core\"\n\ntype Row struct{ core.Base }\n")
	r.Commit("add Base")
	r.Git("tag", "-f", "core/v0.1.0")
	r.Git("tag", "-f", "sqlite/v0.1.0")
	r.Replace("core/base.go", "Old()", "New()")
	r.Write(".changes/core/change.md", "- Renames.\n")
	r.Change("sqlite", "sqlite/README.md", "read me\n")
	p := makePlan(t, r, plan.Options{Modules: []string{"core", "sqlite"}})
	if got := row(t, p, "sqlite"); got.Next != "v0.1.1" || len(got.API.Breaking) > 0 ||
		len(got.Keeps) != 1 {
		t.Errorf("sqlite = %+v, want a patch that keeps core v0.1.0", got)
	}
	r.Replace("core/core.go", `func Hello() string { return "hello" }`,
		`func Hello(name string) string { return name }`)
	r.Commit("break")
	for skip, problem := range map[bool]string{
		true:  "",
		false: "the tree does not build with the raised requirements: fix the code",
	} {
		p = makePlan(t, r, plan.Options{Modules: []string{"core", "sqlite"}, SkipSkew: skip})
		if got := row(t, p, "sqlite"); got.Next != "v0.1.1" || len(got.API.Breaking) > 0 ||
			got.Problem != problem {
			t.Errorf("SkipSkew %t: sqlite = %+v, want a patch and the problem %q", skip, got, problem)
		}
	}
}

func TestMake_Prerelease(t *testing.T) {
	for _, tc := range []struct {
		name          string
		tags          []string
		work          string
		change        string
		want, problem string
	}{
		{
			name: "next prerelease in go.work",
			tags: []string{"v0.1.0", "v0.2.0-rc.1"}, work: "v0.2.0-rc.2",
			change: "add", want: "v0.2.0-rc.2",
		},
		{
			name: "release in go.work",
			tags: []string{"v0.1.0", "v0.2.0-rc.1"}, work: "v0.2.0",
			change: "add", want: "v0.2.0",
		},
		{
			name: "unchanged go.work",
			tags: []string{"v0.1.0", "v0.2.0-rc.1"}, work: "v0.2.0-rc.1",
			change: "add", want: "v0.2.0",
		},
		{
			name: "patch after a prerelease",
			tags: []string{"v0.1.0", "v0.2.0-rc.1"}, work: "v0.2.0-rc.1",
			change: "patch", want: "v0.2.0",
		},
		{
			name: "addition after a patch prerelease",
			tags: []string{"v0.1.0", "v0.1.1-rc.1"}, work: "v0.1.1-rc.2",
			change: "add", want: "v0.2.0",
		},
		{
			name: "breaking change before v1",
			tags: []string{"v0.9.0", "v1.0.0-rc.1"}, work: "v1.0.0-rc.2",
			change: "break", want: "v1.0.0-rc.2",
		},
		{
			name: "only prereleases",
			tags: []string{"v1.0.0-rc.1"}, work: "v1.0.0-rc.2",
			change: "break", want: "v1.0.0-rc.2",
		},
		{
			name: "breaking change after v1",
			tags: []string{"v1.0.0", "v1.1.0-rc.1"}, work: "v1.1.0-rc.2",
			change: "break", problem: "another import path",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newTaggedRepo(t, tc.tags[0])
			for _, tag := range tc.tags[1:] {
				r.Git("tag", "core/"+tag)
			}
			r.Replace("go.work", "/core "+tc.tags[0], "/core "+tc.work)
			switch tc.change {
			case "add":
				r.Write("core/more.go", "package core\n\nfunc More() {}\n")
			case "patch":
				r.Replace("core/core.go", "func Spare() {}", "func Spare() { println() }")
			case "break":
				r.Replace("core/core.go", "Spare()", "Spare(int)")
			}
			r.Write(".changes/core/change.md", "- A change.\n")
			r.Commit("change")
			p := makePlan(t, r, plan.Options{Modules: []string{"core"}, SkipSkew: true})
			core := row(t, p, "core")
			if core.Next != tc.want || !strings.Contains(core.Problem, tc.problem) ||
				tc.problem == "" && core.Problem != "" {
				t.Errorf("core = %+v, want %s and the problem %q", core, tc.want, tc.problem)
			}
		})
	}
}

func TestMake_RaisedRequirement(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
	r.Change("sqlite", "sqlite/more.go",
		"package sqlite\n\nimport \"github.com/plinthgo/plinth/core\"\n\nfunc more() { core.More() }\n\nvar _ = more\n")
	r.Change("grpcx", "grpcx/more.go", "package grpcx\n\nfunc More() {}\n")
	p := makePlan(t, r, plan.Options{})
	const changed = "core changed v0.2.0, grpcx changed v0.2.0, sqlite changed v0.1.1"
	if got := summary(p); got != changed {
		t.Errorf("plan = %s, want %s", got, changed)
	}
	want := plan.Require{
		Module: "core", From: "v0.1.0", To: "v0.2.0",
		Reason: "the tree fails with core v0.1.0",
	}
	if got := row(t, p, "sqlite").Raises; len(got) != 1 || got[0] != want {
		t.Errorf("sqlite raises = %v, want %v", got, want)
	}
	if got := row(t, p, "grpcx"); len(got.Raises) != 0 || len(got.Keeps) != 1 {
		t.Errorf("grpcx raises %v, keeps %v; want none, core", got.Raises, got.Keeps)
	}
}

func TestMake_MissingFragment(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Write("core/more.go", "package core\n")
	r.Write(".changes/nowhere/x.md", "- x\n")
	if _, err := plan.Make(t.Context(), r.Root, plan.Options{SkipSkew: true}); err == nil ||
		!strings.Contains(err.Error(), ".changes/nowhere/x.md") {
		t.Errorf("Make = %v, want an error for a fragment of an unknown module", err)
	}
	r.Git("clean", "-fdq", ".changes")
	p := makePlan(t, r, plan.Options{SkipSkew: true})
	if got := p.Problems(); len(got) != 1 || !strings.Contains(got[0],
		"core: changelog fragment is missing: add .changes/core/") || p.Clean {
		t.Errorf("problems = %q, clean %t", got, p.Clean)
	}
}

func TestMake_UntaggedRequirement(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Replace("sqlite/go.mod", "core v0.1.0", "core v0.7.0")
	if _, err := plan.Make(t.Context(), r.Root, plan.Options{}); err == nil ||
		!strings.Contains(err.Error(),
			"sqlite: go.mod requires github.com/plinthgo/plinth/core@v0.7.0, which has no tag") {
		t.Errorf("Make = %v", err)
	}
}

func TestMake_OneModule(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
	p := makePlan(t, r, plan.Options{Modules: []string{"sqlite"}})
	if len(p.Modules) != 1 || len(p.Skew) != 1 || p.Skew[0].Module != "sqlite" || !p.Skew[0].OK ||
		p.Skew[0].Version != "v0.1.0" {
		t.Errorf("modules %v, skew %v; want only sqlite", p.Modules, p.Skew)
	}
}

func TestMake_Plinth(t *testing.T) {
	r := newTaggedRepo(t, "v0.1.0")
	r.Write("modules.txt", r.Read("modules.txt")+"tools/plinth\n")
	r.Replace("go.work", "use (", "use (\n\t./tools/plinth")
	r.Replace("go.work", "replace (",
		"replace (\n\tgithub.com/plinthgo/plinth/tools/plinth v0.1.0 => ./tools/plinth")
	r.Write("tools/plinth/go.mod",
		"module github.com/plinthgo/plinth/tools/plinth\n\ngo 1.26.0\n\nrequire github.com/plinthgo/plinth/core v0.1.0\n")
	r.Write("tools/plinth/main.go",
		"package main\n\nimport \"github.com/plinthgo/plinth/core\"\n\nfunc main() { println(core.Hello()) }\n")
	r.Commit("plinth")
	r.Git("tag", "tools/plinth/v0.1.0")
	r.Change("core", "core/more.go", "package core\n\nfunc More() {}\n")
	p := makePlan(t, r, plan.Options{SkipSkew: true})
	if got := row(t, p, "tools/plinth"); got.Next != "" || len(got.Raises) != 0 {
		t.Errorf("plinth = %+v, want no release", got)
	}
	r.Change("tools/plinth", "tools/plinth/more.go", "package main\n")
	p = makePlan(t, r, plan.Options{SkipSkew: true})
	if got := row(t, p, "tools/plinth"); got.Next != "v0.1.1" || len(got.Raises) != 1 ||
		got.Raises[0].To != "v0.2.0" {
		t.Errorf("plinth = %+v, want v0.1.1 that requires core v0.2.0", got)
	}
}

func TestPlan_JSON(t *testing.T) {
	p := plan.Plan{
		Commit: "abc",
		Modules: []plan.Module{{
			Name: "core", State: plan.Changed, Released: "v0.1.0", Next: "v0.2.0",
			Bump: plan.Minor, Reasons: []string{"r"},
			API:    api.Diff{Breaking: []string{"b"}, Added: []string{"a"}},
			Raises: []plan.Require{{Module: "x", From: "v0.1.0", To: "v0.2.0", Reason: "y"}},
			Keeps:  []plan.Require{{}},
			Breaks: []string{"sqlite v0.1.0"}, Notes: "- n\n",
			Fragments: []string{"f"}, Problem: "p",
		}},
		Skew: []skew.Run{{
			Module: "m", Version: "tree", With: []string{"core v0.2.0"}, Output: "o",
		}},
		Skipped: true,
	}
	var b strings.Builder
	if err := p.JSON(&b); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(b.String()), "")
	const want = `{"commit":"abc","clean":false,"modules":[{"module":"core","state":"changed","released":"v0.1.0","next":"v0.2.0",` +
		`"bump":"minor","reasons":["r"],"api":{"breaking":["b"],"added":["a"]},"raises":[{"module":"x","from":"v0.1.0","to":"v0.2.0","reason":"y"}],` +
		`"keeps":[{"module":"","from":"","to":"","reason":""}],"breaks":["sqlitev0.1.0"],"notes":"-n\n","fragments":["f"],"problem":"p"}],` +
		`"skew":[{"module":"m","version":"tree","with":["corev0.2.0"],"ok":false,"output":"o"}],"skew_skipped":true}`
	if got != want {
		t.Errorf("JSON =\n%s\nwant\n%s", got, want)
	}
}
