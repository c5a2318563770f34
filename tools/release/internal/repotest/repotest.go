// Package repotest creates small git repositories for the tests of the release tool.
package repotest

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository in a temporary directory.
type Repo struct {
	t    *testing.T
	Root string
}

// files contains five modules: core, a driver and a program that require it, a nested
// module, and an unreleased module. A line "-- NAME" starts a file.
//
//go:embed repo.txt
var files string

// New creates the repository with one commit and no tags. It skips the test if git is not
// installed, and with -short, because tests with a repository run builds.
func New(t *testing.T) *Repo {
	t.Helper()
	if testing.Short() {
		t.Skip("runs builds")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org",
		"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
	} {
		t.Setenv(name, value)
	}
	r := &Repo{t: t, Root: t.TempDir()}
	for part := range strings.SplitSeq("\n"+files, "\n-- ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && name != "" {
			r.Write(name, text+"\n")
		}
	}
	r.Git("init", "-q", "-b", "main")
	r.Commit("first")
	return r
}

// Write writes a file. The name is relative to the root.
func (r *Repo) Write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// Read returns a file, or "" if it does not exist.
func (r *Repo) Read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(text)
}

// Replace replaces a part of a file.
func (r *Repo) Replace(name, before, after string) {
	r.t.Helper()
	text := r.Read(name)
	if !strings.Contains(text, before) {
		r.t.Fatalf("%s lacks %q:\n%s", name, before, text)
	}
	r.Write(name, strings.Replace(text, before, after, 1))
}

// Commit commits all changes.
func (r *Repo) Commit(message string) {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "-m", message)
}

// Change writes a file and a fragment for its module, and commits both.
func (r *Repo) Change(module, file, text string) {
	r.t.Helper()
	r.Write(file, text)
	r.Write(".changes/"+module+"/change.md", "- A change of "+module+".\n")
	r.Commit("change " + module)
}

// Git runs git and returns its output.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), "git",
		append([]string{"-C", r.Root}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// State returns the refs and the changes of the working tree, which a failure must not
// change.
func (r *Repo) State() string {
	r.t.Helper()
	return r.Git("show-ref") + "\n" + r.Git("status", "--porcelain")
}
