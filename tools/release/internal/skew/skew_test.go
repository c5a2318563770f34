package skew_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
	"github.com/plinthgo/plinth/tools/release/internal/skew"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
)

// newRunner returns a Runner for a repository with tags of all modules and core's tree as
// v0.2.0 in the proxy, and the module grpcx/validate.
func newRunner(t *testing.T, change func(r *repotest.Repo)) (*skew.Runner, workspace.Module) {
	t.Helper()
	r := repotest.New(t)
	modules, err := workspace.Modules(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		r.Git("tag", m.Tag("v0.1.0"))
	}
	change(r)
	s, err := stage.Open(t.Context(), r.Root, modules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, m := range modules[:3] { // core, examples, grpcx
		if err := modproxy.Add(t.Context(), s.Proxy(), m, "v0.2.0"); err != nil {
			t.Fatal(err)
		}
	}
	return &skew.Runner{Stage: s}, modules[3]
}

const (
	core  = workspace.Root + "/core"
	grpcx = workspace.Root + "/grpcx"
)

func TestRunner_Previous(t *testing.T) {
	r, m := newRunner(t, func(r *repotest.Repo) { r.Replace("grpcx/grpcx.go", "Call()", "Call(int)") })
	broken, err := r.Previous(t.Context(), m, "v0.1.0",
		stage.Siblings{core: "v0.2.0", grpcx: "v0.2.0"})
	if err != nil || strings.Join(broken, " ") != grpcx {
		t.Errorf("Previous = %q, %v; want grpcx; runs %+v", broken, err, r.Runs)
	}
	if got := r.Runs[0]; got.OK || got.Version != "v0.1.0" ||
		strings.Join(got.With, ", ") != "core v0.2.0, grpcx v0.2.0" ||
		!strings.Contains(got.Output, "grpcx.Call") {
		t.Errorf("the first run = %+v", got)
	}
}

func TestRunner_Required(t *testing.T) {
	r, m := newRunner(t, func(r *repotest.Repo) {
		r.Write("grpcx/more.go", "package grpcx\n\nfunc More() {}\n")
		r.Write("grpcx/validate/more.go",
			"package validate\n\nimport \"github.com/plinthgo/plinth/grpcx\"\n\nvar _ = grpcx.More\n")
	})
	needed, err := r.Required(t.Context(), m, stage.Siblings{},
		stage.Siblings{core: "v0.2.0", grpcx: "v0.2.0"})
	if err != nil || strings.Join(needed, " ") != grpcx {
		t.Errorf("Required = %q, %v; want grpcx; runs %+v", needed, err, r.Runs)
	}
}

func TestRunner_Previous_UnrelatedFailure(t *testing.T) {
	r, m := newRunner(t, func(r *repotest.Repo) {
		r.Write("grpcx/validate/validate_test.go",
			"package validate\n\nimport \"testing\"\n\nfunc TestNever(t *testing.T) { t.Fatal(\"no server\") }\n")
		r.Commit("x")
		r.Git("tag", "-f", "grpcx/validate/v0.1.0")
	})
	next := stage.Siblings{core: "v0.2.0"}
	if broken, err := r.Previous(t.Context(), m, "v0.1.0", next); err != nil || len(broken) != 0 ||
		len(r.Runs) != 2 {
		t.Errorf("Previous = %q, %v; want none after a second run; runs %+v", broken, err, r.Runs)
	}
	if _, err := r.Required(t.Context(), m, stage.Siblings{}, next); err == nil ||
		!strings.Contains(err.Error(), "no server") {
		t.Errorf("Required = %v, want the failed command", err)
	}
}

func TestRunner_Previous_Error(t *testing.T) {
	r, m := newRunner(t, func(*repotest.Repo) {})
	next := stage.Siblings{core: "v0.9.0"}
	if broken, err := r.Previous(t.Context(), m, "v0.1.0", next); err == nil || len(broken) != 0 {
		t.Errorf("Previous = %q, %v; want an error for the missing version", broken, err)
	}
}
