//go:build unix

package readme_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/pgtest"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// onPostgres is how the line begins that starts the service on PostgreSQL. What follows
// up to the command is where the reader's server is; the test's is elsewhere.
const onPostgres = "DATABASE_DRIVER=postgres DATABASE_HOST=localhost DATABASE_USER=postgres DATABASE_PASS=secret DATABASE_NAME=postgres"

// TestEverySnippetRuns does what README.md says, block after block, as a reader with an
// empty module cache would. Three things are replaced, because they cannot run here as
// they are written: the address localhost:1118 by a free port, the PostgreSQL of the
// reader by the one of this machine, and the clone from GitHub by one of this repository.
// The modules come from a proxy that has the working tree, so @latest is that.
func TestEverySnippetRuns(t *testing.T) {
	root := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, root: root, env: stranger(t, root)}
	for _, b := range Blocks(string(text)) {
		name := fmt.Sprintf("line %d %s", b.Line, b.Language)
		if !t.Run(name, func(t *testing.T) { r.do(t, b) }) {
			t.Fatalf("%s of README.md fails, and what comes after it was not tried", name)
		}
	}
	if r.answers == 0 || r.programs == 0 {
		t.Errorf("README.md has %d programs and %d answers", r.programs, r.answers)
	}
}

// repository returns its root.
func repository(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := workspace.Find()
	if err != nil {
		t.Skip("README.md is not there: ", err)
	}
	for _, program := range []string{"curl", "git", "make"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	return root
}

// stranger returns the environment of somebody who has nothing of this repository but a
// proxy.
func stranger(t *testing.T, root string) []string {
	t.Helper()
	modules, err := workspace.Modules(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Publish(t.Context(), modules...); err != nil {
		t.Fatal(err)
	}
	return Stranger(s)
}

// reader follows the blocks in their order.
type reader struct {
	t        *testing.T
	root     string
	env      []string
	session  *Session
	output   string // of the last commands
	asked    string // the first request
	answer   string // to that
	programs int
	answers  int
}

func (r *reader) do(t *testing.T, b Block) {
	switch b.Language {
	case "sh":
		r.commands(t, b.Text)
	case "go":
		r.program(t, b.Text)
	case "json":
		r.compare(t, b.Text)
	default:
		t.Fatalf("nobody knows how to try a block of %q", b.Language)
	}
}

// commands runs a block. Each clone begins anew, in a folder and with the environment of
// somebody who works on the repository.
func (r *reader) commands(t *testing.T, text string) {
	switch {
	case strings.Contains(text, "git clone"):
		r.begin(t, os.Environ(), "https://"+workspace.Root, "--quiet "+r.root+" plinth")
	case strings.Contains(text, "go mod init"):
		r.begin(t, r.env)
	case strings.Contains(text, onPostgres):
		r.postgres(t, text)
		return
	}
	r.run(t, text)
	if strings.HasPrefix(text, "curl") && r.asked == "" {
		r.asked, r.answer = text, r.output
	}
}

func (r *reader) begin(t *testing.T, env []string, replace ...string) {
	t.Helper()
	session, err := Begin(r.t.Context(), r.t.TempDir(), env, replace...)
	if err != nil {
		t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := session.Stop(); err != nil {
			r.t.Error(err)
		}
	})
	r.session = session
}

func (r *reader) run(t *testing.T, text string) {
	t.Helper()
	out, err := r.session.Run(r.t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	r.output = out
}

// program writes a whole program, or adds a line to it.
func (r *reader) program(t *testing.T, text string) {
	name := filepath.Join(r.session.Dir(), "main.go")
	if line, ok := strings.CutPrefix(text, "import "); ok {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(string(before), "import (\n", "import (\n\t"+line, 1)
	} else if !strings.HasPrefix(text, "package main\n") {
		t.Fatal("this is neither a program nor an import")
	}
	r.programs++
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *reader) compare(t *testing.T, text string) {
	r.answers++
	if got, want := Normal(r.output), Normal(text); got != want {
		t.Errorf("the answer is not the one of README.md:\n%s\nthe README has, but for ids and times\n%s", strings.TrimSpace(r.output), want)
	}
}

// postgres starts the service on a real server, and asks again what was asked before.
func (r *reader) postgres(t *testing.T, text string) {
	where := "DATABASE_DRIVER=postgres"
	for _, variable := range pgtest.Database(t) {
		name, value, _ := strings.Cut(variable, "=")
		where += " " + name + "='" + value + "'"
	}
	r.run(t, strings.Replace(text, onPostgres, where, 1))
	t.Cleanup(func() {
		if err := r.session.Stop(); err != nil { // before the database goes
			t.Error(err)
		}
	})
	if !strings.Contains(r.session.Log(), "postgres") {
		t.Errorf("nothing in the log says PostgreSQL:\n%s", r.session.Log())
	}
	r.run(t, r.asked)
	if got, want := Normal(r.output), Normal(r.answer); got != want {
		t.Errorf("the answer on PostgreSQL is\n%s\nwant that on SQLite\n%s", got, want)
	}
}
