package tag_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/release/internal/prepare"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
	"github.com/plinthgo/plinth/tools/release/internal/tag"
)

const all = "core/v0.1.0\ngrpcx/v0.1.0\ngrpcx/validate/v0.1.0\nsqlite/v0.1.0"

func newPreparedRepo(t *testing.T) *repotest.Repo {
	t.Helper()
	r := repotest.New(t)
	if _, err := prepare.Run(t.Context(), r.Root, prepare.Options{Date: "2026-01-31"}); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRun_Tags(t *testing.T) {
	r := newPreparedRepo(t)
	names, err := tag.Run(t.Context(), r.Root, "")
	if err != nil || strings.Join(names, "\n") != all {
		t.Errorf("Run = %q, %v", names, err)
	}
	if got := r.Git("tag", "--points-at", "HEAD"); got != all {
		t.Errorf("tags = %q", got)
	}
	const want = "tag sqlite v0.1.0\n\n- The driver,\n  in pure Go."
	got := r.Git("for-each-ref", "--format=%(objecttype) %(contents)", "refs/tags/sqlite")
	if got != want {
		t.Errorf("tag = %q, want %q", got, want)
	}
	before := r.State()
	if names, err := tag.Run(t.Context(), r.Root, ""); err != nil || len(names) != 0 ||
		r.State() != before {
		t.Errorf("second run = %q, %v", names, err)
	}
}

func TestRun_Atomicity(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(r *repotest.Repo)
		want   string
	}{
		{
			name: "a tag cannot be created", want: "refs/tags/sqlite",
			// a tag at the path of a ref directory
			change: func(r *repotest.Repo) { r.Git("tag", "sqlite") },
		},
		{
			name: "a tag exists on another commit", want: "core: tag core/v0.1.0 is on commit",
			change: func(r *repotest.Repo) {
				r.Git("tag", "core/v0.1.0")
				r.Write("core/core.go",
					"package core\n\nfunc Hello() string { return \"hello\" }\n")
				r.Commit("x")
			},
		},
		{
			name: "the tree is not clean", want: "not clean",
			change: func(r *repotest.Repo) { r.Write("x", "x") },
		},
		{
			name: "the tree changed after prepare",
			want: "sqlite: go.sum has a wrong hash for core v0.1.0",
			change: func(r *repotest.Repo) {
				r.Write("core/late.go", "package core\n")
				r.Commit("late")
			},
		},
		{
			name: "an unrequired module changed after prepare",
			want: "sqlite: the changelog lacks .changes/sqlite/late.md",
			change: func(r *repotest.Repo) {
				r.Write("sqlite/late.go", "package sqlite\n")
				r.Write(".changes/sqlite/late.md", "- Late.\n")
				r.Commit("late")
			},
		},
		{
			name:   "a hash is missing",
			want:   "grpcx: go.sum lacks github.com/plinthgo/plinth/core@v0.1.0",
			change: func(r *repotest.Repo) { r.Git("rm", "-q", "grpcx/go.sum"); r.Commit("x") },
		},
		{
			name: "a requirement has no tag", want: "core v0.3.0 has no tag",
			change: func(r *repotest.Repo) {
				r.Write("sqlite/go.sum",
					strings.ReplaceAll(r.Read("sqlite/go.sum"), "v0.1.0", "v0.3.0"))
				r.Commit("x")
			},
		},
		{
			name: "a changelog section is missing", want: "no section for grpcx v0.1.0",
			change: func(r *repotest.Repo) {
				r.Replace("CHANGELOG.md", "## grpcx v", "## v")
				r.Commit("x")
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newPreparedRepo(t)
			tc.change(r)
			before := r.State()
			if names, err := tag.Run(t.Context(), r.Root, ""); err == nil ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run = %q, %v; want %q in it", names, err, tc.want)
			}
			if after := r.State(); after != before {
				t.Errorf("state =\n%s\nwant\n%s", after, before)
			}
		})
	}
}

func TestRun_UnreleasedChange(t *testing.T) {
	r := newPreparedRepo(t)
	if _, err := tag.Run(t.Context(), r.Root, ""); err != nil {
		t.Fatal(err)
	}
	r.Change("core", "core/late.go", "package core\n")
	if _, err := tag.Run(t.Context(), r.Root, ""); err == nil ||
		!strings.Contains(err.Error(), "core/v0.1.0") ||
		!strings.Contains(err.Error(), "never moved") {
		t.Errorf("Run = %v, want an error for the changed module", err)
	}
}

func TestRun_Push(t *testing.T) {
	r := newPreparedRepo(t)
	remote := t.TempDir()
	r.Git("init", "-q", "--bare", remote)
	r.Git("remote", "add", "origin", remote)
	r.Git("push", "-q", "origin", "HEAD^:refs/tags/grpcx/v0.1.0") // conflicts with the new tag
	before := r.State()
	if _, err := tag.Run(t.Context(), r.Root, "origin"); err == nil ||
		!strings.Contains(err.Error(), "grpcx/v0.1.0") {
		t.Errorf("Run = %v, want the tag that the remote has", err)
	}
	if after := r.State(); after != before {
		t.Errorf("state =\n%s\nwant\n%s", after, before)
	}
	if got := r.Git("-C", remote, "tag"); got != "grpcx/v0.1.0" {
		t.Errorf("the remote has %q", got)
	}
	r.Git("-C", remote, "tag", "-d", "grpcx/v0.1.0")
	for range 2 { // the second push finds existing tags
		if names, err := tag.Run(t.Context(), r.Root, "origin"); err != nil ||
			strings.Join(names, "\n") != all {
			t.Errorf("Run = %q, %v", names, err)
		}
		if got := r.Git("-C", remote, "tag"); got != all {
			t.Errorf("the remote has %q", got)
		}
	}
}
