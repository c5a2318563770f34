// Package repotest makes small repositories like this one, for the tests of the release tool: real git, real modules, nothing
// of anybody else.
package repotest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repo is a repository in a temporary folder.
type Repo struct {
	t    *testing.T
	Root string
}

// files are five modules: core, a driver and a program that need it, one inside another's folder, and one that is never released.
const files = `
-- modules.txt
core
examples
grpcx
grpcx/validate
sqlite
-- go.work
go 1.26.0

use (
	./core
	./examples
	./grpcx
	./grpcx/validate
	./sqlite
)

replace (
	github.com/plinthgo/plinth/core v0.1.0 => ./core
	github.com/plinthgo/plinth/grpcx v0.1.0 => ./grpcx
	github.com/plinthgo/plinth/grpcx/validate v0.1.0 => ./grpcx/validate
	github.com/plinthgo/plinth/sqlite v0.1.0 => ./sqlite
)
-- CHANGELOG.md
# Changelog

What is not released yet stands in .changes.
-- .changes/core/first.md
- The base.
-- .changes/grpcx/first.md
- Calls.
-- .changes/grpcx/validate/first.md
- Checks of calls.
-- .changes/sqlite/first.md
- The driver,
  in pure Go.
-- core/go.mod
module github.com/plinthgo/plinth/core

go 1.26.0
-- core/core.go
package core

func Hello() string { return "hello" }

func Spare() {}
-- core/core_test.go
package core_test

import "testing"

func TestNothing(*testing.T) {}
-- core/driver/driver.go
package driver

const InterfaceVersion = 1

type Driver interface{ Name() string }
-- core/old/old.go
package old

func Old() {}
-- core/internal/deep/deep.go
package deep

func Deep() {}
-- core/cmd/hello/main.go
package main

func Exported() {}

func main() { Exported() }
-- sqlite/go.mod
module github.com/plinthgo/plinth/sqlite

go 1.26.0

require github.com/plinthgo/plinth/core v0.1.0
-- sqlite/sqlite.go
package sqlite

import (
	"github.com/plinthgo/plinth/core"
	"github.com/plinthgo/plinth/core/driver"
)

type Driver struct{}

func (Driver) Name() string { return core.Hello() }

func (Driver) InterfaceVersion() int { return 1 }

var _ driver.Driver = Driver{}
-- sqlite/sqlite_test.go
package sqlite

import "testing"

func TestName(t *testing.T) {
	if got := (Driver{}).Name(); got != "hello" {
		t.Errorf("Name = %q, want hello", got)
	}
}
-- grpcx/go.mod
module github.com/plinthgo/plinth/grpcx

go 1.26.0

require github.com/plinthgo/plinth/core v0.1.0
-- grpcx/grpcx.go
package grpcx

import "github.com/plinthgo/plinth/core"

func Call() string { return core.Hello() }
-- grpcx/validate/go.mod
module github.com/plinthgo/plinth/grpcx/validate

go 1.26.0

require (
	github.com/plinthgo/plinth/core v0.1.0
	github.com/plinthgo/plinth/grpcx v0.1.0
)
-- grpcx/validate/validate.go
package validate

import (
	"github.com/plinthgo/plinth/core"
	"github.com/plinthgo/plinth/grpcx"
)

func Valid() bool { return grpcx.Call() == core.Hello() }
-- examples/go.mod
module github.com/plinthgo/plinth/examples

go 1.26.0

require (
	github.com/plinthgo/plinth/core v0.1.0
	github.com/plinthgo/plinth/grpcx/validate v0.1.0
	github.com/plinthgo/plinth/sqlite v0.1.0
)

require github.com/plinthgo/plinth/grpcx v0.1.0 // indirect
-- examples/main.go
package main

import (
	"fmt"

	_ "github.com/plinthgo/plinth/core"
	"github.com/plinthgo/plinth/grpcx/validate"
	"github.com/plinthgo/plinth/sqlite"
)

func main() { fmt.Println(sqlite.Driver{}.Name(), validate.Valid()) }
`

// New makes the repository with one commit and no tags. It skips the test where there is no git, and with -short: what the
// tests do with a repository starts builds.
func New(t *testing.T) *Repo {
	t.Helper()
	if testing.Short() {
		t.Skip("starts builds")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.org", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.org",
	} {
		t.Setenv(name, value)
	}
	r := &Repo{t: t, Root: t.TempDir()}
	for part := range strings.SplitSeq(files, "\n-- ") {
		if name, text, ok := strings.Cut(part, "\n"); ok && name != "" {
			r.Write(name, text+"\n")
		}
	}
	r.Git("init", "-q", "-b", "main")
	r.Commit("first")
	return r
}

// Write writes a file, named from the root.
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

// Read returns a file, or "" where there is none.
func (r *Repo) Read(name string) string {
	r.t.Helper()
	text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	return string(text)
}

// Replace replaces a part of a file.
func (r *Repo) Replace(name, old, now string) {
	r.t.Helper()
	text := r.Read(name)
	if !strings.Contains(text, old) {
		r.t.Fatalf("%s has no %q:\n%s", name, old, text)
	}
	r.Write(name, strings.Replace(text, old, now, 1))
}

// Commit commits all that there is.
func (r *Repo) Commit(message string) {
	r.t.Helper()
	r.Git("add", "--all")
	r.Git("commit", "--quiet", "--allow-empty", "-m", message)
}

// Change changes a file and writes a fragment for its module, and commits both.
func (r *Repo) Change(module, file, text string) {
	r.t.Helper()
	r.Write(file, text)
	r.Write(".changes/"+module+"/change.md", "- A change of "+module+".\n")
	r.Commit("change " + module)
}

// Git runs git and returns what it printed.
func (r *Repo) Git(args ...string) string {
	r.t.Helper()
	out, err := exec.CommandContext(r.t.Context(), "git", append([]string{"-C", r.Root}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// State is all that a failure must leave as it was: branch, tags, and the difference of the tree.
func (r *Repo) State() string {
	r.t.Helper()
	return r.Git("show-ref") + "\n" + r.Git("status", "--porcelain")
}
