package prepare_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"

	"github.com/plinthgo/plinth/tools/internal/modproxy"
	"github.com/plinthgo/plinth/tools/internal/workspace"
	"github.com/plinthgo/plinth/tools/release/internal/prepare"
	"github.com/plinthgo/plinth/tools/release/internal/repotest"
	"github.com/plinthgo/plinth/tools/release/internal/stage"
	"github.com/plinthgo/plinth/tools/release/internal/sums"
	"github.com/plinthgo/plinth/tools/release/internal/tag"
)

const date = "2026-01-31"

func release(t *testing.T, r *repotest.Repo) string {
	t.Helper()
	result, err := prepare.Run(t.Context(), r.Root, prepare.Options{Date: date})
	if err != nil {
		t.Fatal(err)
	}
	return result.Commit
}

func publish(t *testing.T, r *repotest.Repo) {
	t.Helper()
	if _, err := tag.Run(t.Context(), r.Root, ""); err != nil {
		t.Fatal(err)
	}
}

func TestRun_FirstRelease(t *testing.T) {
	r := repotest.New(t)
	before := r.Git("rev-parse", "HEAD")
	commit := release(t, r)
	if got := r.Git("rev-parse", "HEAD"); got != commit || r.Git("rev-parse", "HEAD^") != before {
		t.Errorf("HEAD = %s, want %s on top of %s", got, commit, before)
	}
	if status := r.Git("status", "--porcelain"); status != "" {
		t.Errorf("the tree is not clean:\n%s", status)
	}
	const changed = ".changes/core/first.md\n.changes/grpcx/first.md\n.changes/grpcx/validate/first.md\n.changes/sqlite/first.md\n" +
		"CHANGELOG.md\nexamples/go.sum\ngrpcx/go.sum\ngrpcx/validate/go.sum\nsqlite/go.sum"
	if got := r.Git("diff", "--name-only", "HEAD^"); got != changed {
		t.Errorf("changed\n%s\nwant\n%s", got, changed)
	}
	const log = "# Changelog\n\nUnreleased changes are in .changes.\n\n## core v0.1.0 - 2026-01-31\n\n- The base.\n\n" +
		"## grpcx v0.1.0 - 2026-01-31\n\n- Calls.\n\n## grpcx/validate v0.1.0 - 2026-01-31\n\n- Checks of calls.\n\n" +
		"## sqlite v0.1.0 - 2026-01-31\n\n- The driver,\n  in pure Go.\n"
	if got := r.Read("CHANGELOG.md"); got != log {
		t.Errorf("changelog =\n%s\nwant\n%s", got, log)
	}
	if again := release(t, r); again != "" {
		t.Errorf("the second run created commit %s:\n%s", again, r.Git("show", again))
	}
	publish(t, r)
	if again := release(t, r); again != "" {
		t.Errorf("after tagging, Run created commit %s:\n%s", again, r.Git("show", again))
	}
}

func TestRun_DriverInterface(t *testing.T) {
	r := repotest.New(t)
	release(t, r)
	publish(t, r)
	r.Replace("core/driver/driver.go", "InterfaceVersion = 1", "InterfaceVersion = 2")
	r.Write(".changes/core/interface.md", "- Drivers have a new method.\n")
	r.Commit("change the interface")
	if _, err := prepare.Run(t.Context(), r.Root, prepare.Options{Date: date}); err == nil ||
		!strings.Contains(err.Error(), "sqlite: the driver implements version 1") {
		t.Errorf("Run accepts a driver with an old interface version: %v", err)
	}
	r.Replace("sqlite/sqlite.go", "return 1", "return 2")
	r.Write(".changes/sqlite/interface.md", "- Has the new method.\n")
	r.Commit("fix the driver")
	release(t, r)
	for _, want := range []string{
		"plinth/core v0.1.0 => ./core\n", "plinth/core v0.2.0 => ./core\n",
		"plinth/sqlite v0.1.1 => ./sqlite\n", "plinth/grpcx v0.1.0 => ./grpcx\n",
	} {
		if !strings.Contains(r.Read("go.work"), want) {
			t.Errorf("go.work lacks %q:\n%s", want, r.Read("go.work"))
		}
	}
	for file, want := range map[string]string{
		"sqlite/go.mod": "plinth/core v0.2.0\n", "grpcx/go.mod": "plinth/core v0.1.0\n",
		"examples/go.mod": "plinth/sqlite v0.1.1\n",
		"sqlite/go.sum":   "plinth/core v0.2.0 h1:", "examples/go.sum": "plinth/sqlite v0.1.1 h1:",
	} {
		if !strings.Contains(r.Read(file), want) {
			t.Errorf("%s lacks %q:\n%s", file, want, r.Read(file))
		}
	}
	const section = "## core v0.2.0 - 2026-01-31\n\n- Drivers have a new method.\n- Does not work with sqlite v0.1.0: upgrade to v0.1.1 or later.\n\n" +
		"## sqlite v0.1.1 - 2026-01-31\n\n- Has the new method.\n- Requires core v0.2.0.\n\n## core v0.1.0"
	if got := r.Read("CHANGELOG.md"); !strings.Contains(got, section) {
		t.Errorf("changelog =\n%s\nwant in it\n%s", got, section)
	}
	const subject = "Release core v0.2.0, sqlite v0.1.1"
	if got := r.Git("log", "-1", "--format=%s"); got != subject {
		t.Errorf("subject = %q, want %q", got, subject)
	}
	if again := release(t, r); again != "" {
		t.Errorf("the second run created commit %s:\n%s", again, r.Git("show", again))
	}
	publish(t, r)
	if got, want := r.Git("tag", "--points-at", "HEAD"), "core/v0.2.0\nsqlite/v0.1.1"; got != want {
		t.Errorf("tags = %q, want %q", got, want)
	}
	checkConsumers(t, r)
}

// TestRun_ConsumerHashes checks that the go command accepts every hash that prepare
// wrote.
func TestRun_ConsumerHashes(t *testing.T) {
	r := repotest.New(t)
	release(t, r)
	publish(t, r)
	checkConsumers(t, r)
	lines := sums.Ours([]byte(r.Read("grpcx/validate/go.sum")))
	r.Replace("grpcx/validate/go.sum", lines[0].Hash, lines[1].Hash)
	r.Commit("another hash")
	r.Git("tag", "--force", "grpcx/validate/v0.1.0")
	s, proxy := proxyOfTags(t, r)
	if err := build(t, r, s, proxy, "grpcx/validate"); err == nil ||
		!strings.Contains(err.Error(), "SECURITY ERROR") {
		t.Errorf("build with another hash = %v, want an error", err)
	}
}

// checkConsumers builds and tests every tagged module, and the examples as their
// consumer. The proxy contains only tags, and the go.sum files are read-only for the go
// command.
func checkConsumers(t *testing.T, r *repotest.Repo) {
	t.Helper()
	s, proxy := proxyOfTags(t, r)
	for _, m := range s.Modules {
		if err := build(t, r, s, proxy, m.Name); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

// proxyOfTags creates a proxy of all tags.
func proxyOfTags(t *testing.T, r *repotest.Repo) (*stage.Stage, string) {
	t.Helper()
	modules, err := workspace.Modules(r.Root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stage.Open(t.Context(), r.Root, modules)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	proxy := t.TempDir()
	for _, m := range modules {
		for _, version := range s.Tags[m.Name] {
			if err := modproxy.AddTag(t.Context(), proxy, r.Root, m, version); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s, proxy
}

// build downloads the module's newest tag, or copies a module without a tag, and runs the
// go command in it.
func build(t *testing.T, r *repotest.Repo, s *stage.Stage, proxy, name string) error {
	t.Helper()
	folder := filepath.Join(r.Root, name)
	for _, m := range s.Modules {
		if m.Name != name || !m.Released() {
			continue
		}
		folder = filepath.Join(t.TempDir(), "zip")
		zip := filepath.Join(proxy, filepath.FromSlash(m.Path()), "@v", s.Latest(m)+".zip")
		file, err := os.ReadFile(zip)
		if err != nil {
			t.Fatal(err)
		}
		id := module.Version{Path: m.Path(), Version: s.Latest(m)}
		write := func(w io.Writer) error { _, err := w.Write(file); return err }
		if err := s.Unpack(folder, id, write); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"build", "-o", os.DevNull, "./..."},
		{"vet", "./..."},
		{"test", "./..."},
		{"mod", "verify"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local",
			"GOPROXY=file://"+proxy, "GOVCS=*:off", "GOFLAGS=-mod=readonly -modcacherw",
			"GOMODCACHE="+filepath.Join(t.TempDir(), "cache"), "GONOSUMDB="+workspace.Root+"/*")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	return nil
}

func TestRun_HashesPerCommit(t *testing.T) {
	r := repotest.New(t)
	release(t, r)
	before := sums.Ours([]byte(r.Read("sqlite/go.sum")))
	r.Replace("core/core.go", "func Spare() {}", "func Spare() { println() }")
	r.Write(".changes/core/late.md", "- Later.\n")
	r.Commit("change core")
	if release(t, r) == "" {
		t.Fatal("no commit, want one with other hashes")
	}
	if after := sums.Ours([]byte(r.Read("sqlite/go.sum"))); len(before) != 2 || len(after) != 2 ||
		before[0] == after[0] {
		t.Errorf("hashes = %v, want others than %v", after, before)
	}
	const section = "\n- The base.\n- Later.\n\n## grpcx v0.1.0"
	if got := r.Read("CHANGELOG.md"); !strings.Contains(got, section) {
		t.Errorf("changelog =\n%s\nwant in it %q", got, section)
	}
	publish(t, r)
	checkConsumers(t, r)
}

func TestRun_Failure(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, r *repotest.Repo)
		want   string
	}{
		{
			name: "a fragment is missing", want: "changelog fragment is missing",
			change: func(_ *testing.T, r *repotest.Repo) {
				r.Git("rm", "-q", ".changes/core/first.md")
				r.Commit("x")
			},
		},
		{
			name: "the tree is not clean", want: "not clean",
			change: func(_ *testing.T, r *repotest.Repo) {
				r.Write("core/new.go", "package core\n")
			},
		},
		{
			name: "go mod tidy fails", want: "validate: go mod tidy",
			change: func(_ *testing.T, r *repotest.Repo) {
				r.Write("grpcx/validate/bad.go",
					"package validate\n\nimport _ \"github.com/plinthgo/plinth/core/nowhere\"\n")
				r.Commit("x")
			},
		},
		{
			name: "modules require each other", want: "core -> sqlite -> core",
			change: func(_ *testing.T, r *repotest.Repo) {
				r.Write("core/go.mod",
					r.Read("core/go.mod")+"\nrequire github.com/plinthgo/plinth/sqlite v0.1.0\n")
				r.Commit("x")
			},
		},
		{
			name: "the committer has no name", want: "git commit",
			change: func(t *testing.T, _ *repotest.Repo) {
				t.Helper()
				t.Setenv("GIT_COMMITTER_NAME", " ")
			},
		},
		{
			name: "no changelog", want: "CHANGELOG.md",
			change: func(_ *testing.T, r *repotest.Repo) {
				r.Git("rm", "-q", "CHANGELOG.md")
				r.Commit("x")
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := repotest.New(t)
			tc.change(t, r)
			before := r.State()
			_, err := prepare.Run(t.Context(), r.Root, prepare.Options{Date: date})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run = %v, want %q in it", err, tc.want)
			}
			if after := r.State(); after != before {
				t.Errorf("state =\n%s\nwant\n%s", after, before)
			}
		})
	}
}

func TestRun_Interrupt(t *testing.T) {
	r := repotest.New(t)
	before := r.State()
	ctx, cancel := context.WithCancel(t.Context())
	log := func(format string, _ ...any) {
		if strings.Contains(format, "hashing") {
			cancel()
		}
	}
	_, err := prepare.Run(ctx, r.Root, prepare.Options{Date: date, Log: log})
	if err == nil || r.State() != before {
		t.Errorf("Run = %v, state =\n%s\nwant\n%s", err, r.State(), before)
	}
}
