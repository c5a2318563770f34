//go:build unix

package readme_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/tools/internal/pgtest"
	"github.com/plinthgo/plinth/tools/internal/sandbox"
	"github.com/plinthgo/plinth/tools/internal/workspace"
)

// onPostgres is the start of the line that runs the service on PostgreSQL. The test
// replaces it with the address of its own server.
const onPostgres = "DATABASE_DRIVER=postgres DATABASE_HOST=localhost DATABASE_USER=postgres DATABASE_PASS=secret DATABASE_NAME=postgres"

// TestREADME runs README.md block after block, as a reader with an empty module cache
// would. It uses a free port instead of 1118, a PostgreSQL server of this machine, and a
// clone of this repository instead of a clone from GitHub. A module proxy serves the
// working tree as @latest.
func TestREADME(t *testing.T) {
	root := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, root: root, env: consumerEnv(t, root)}
	for _, b := range Blocks(string(text)) {
		name := fmt.Sprintf("line %d %s", b.Line, b.Language)
		if !t.Run(name, func(t *testing.T) { r.do(t, b) }) {
			t.Fatalf("%s of README.md fails; the blocks after it were not run", name)
		}
	}
	if r.responses == 0 || r.programs == 0 || r.logs == 0 {
		t.Errorf("README.md has %d programs, %d responses and %d logs, want at least one of each",
			r.programs, r.responses, r.logs)
	}
}

// repository returns the root of the repository.
func repository(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := workspace.Find()
	if err != nil {
		t.Skip("README.md is missing: ", err)
	}
	for _, program := range []string{"curl", "git", "make"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	return root
}

// consumerEnv returns the environment of a user who obtains the modules from a proxy.
func consumerEnv(t *testing.T, root string) []string {
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
	return ConsumerEnv(s)
}

// reader runs the blocks in order.
type reader struct {
	t         *testing.T
	root      string
	env       []string
	session   *Session
	output    string // of the last commands
	request   string // the first request
	response  string // its response
	programs  int
	responses int
	logs      int
}

func (r *reader) do(t *testing.T, b Block) {
	switch b.Language {
	case "sh":
		r.commands(t, b.Text)
	case "go":
		r.program(t, b.Text)
	case "json":
		r.compare(t, b.Text)
	case "text":
		r.log(t, b.Text)
	default:
		t.Fatalf("cannot run a block of language %q", b.Language)
	}
}

// commands runs a block. Each clone starts a new session with the environment of a
// contributor.
func (r *reader) commands(t *testing.T, text string) {
	switch {
	case strings.Contains(text, "git clone"):
		r.start(t, os.Environ(), "https://"+workspace.Root, "--quiet "+r.root+" plinth")
	case strings.Contains(text, "go mod init"):
		r.start(t, r.env)
	case strings.Contains(text, onPostgres):
		r.postgres(t, text)
		return
	}
	r.run(t, text)
	if strings.HasPrefix(text, "curl") && r.request == "" {
		r.request, r.response = text, r.output
	}
}

func (r *reader) start(t *testing.T, env []string, replace ...string) {
	t.Helper()
	session, err := NewSession(r.t.Context(), r.t.TempDir(), env, replace...)
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

// program writes a complete program, or adds an import to it.
func (r *reader) program(t *testing.T, text string) {
	name := filepath.Join(r.session.Dir(), "main.go")
	if line, ok := strings.CutPrefix(text, "import "); ok {
		before, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = strings.Replace(string(before), "import (\n", "import (\n\t"+line, 1)
	} else if !strings.HasPrefix(text, "package main\n") {
		t.Fatal("the block is neither a program nor an import")
	}
	r.programs++
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (r *reader) compare(t *testing.T, text string) {
	r.responses++
	if got, want := Normalize(r.output), Normalize(text); got != want {
		t.Errorf("the response is\n%s\nREADME.md has\n%s", strings.TrimSpace(r.output), want)
	}
}

// log checks that the service has logged each line of the text.
func (r *reader) log(t *testing.T, text string) {
	r.logs++
	var got []string
	for line := range strings.Lines(r.session.Log()) {
		got = append(got, NormalizeLog(line))
	}
	for line := range strings.Lines(text) {
		if !slices.Contains(got, NormalizeLog(line)) {
			t.Errorf("the service has not logged\n%s\nit has logged\n%s", line, r.session.Log())
		}
	}
}

// postgres runs the service on a real server and repeats the first request.
func (r *reader) postgres(t *testing.T, text string) {
	settings := "DATABASE_DRIVER=postgres"
	for _, variable := range pgtest.Database(t) {
		name, value, _ := strings.Cut(variable, "=")
		settings += " " + name + "='" + value + "'"
	}
	r.run(t, strings.Replace(text, onPostgres, settings, 1))
	t.Cleanup(func() {
		if err := r.session.Stop(); err != nil { // before the database is dropped
			t.Error(err)
		}
	})
	if !strings.Contains(r.session.Log(), "postgres") {
		t.Errorf("the log does not mention PostgreSQL:\n%s", r.session.Log())
	}
	r.run(t, r.request)
	if got, want := Normalize(r.output), Normalize(r.response); got != want {
		t.Errorf("the response on PostgreSQL is\n%s\nwant the response on SQLite\n%s", got, want)
	}
}

// TestREADME_Chinese checks that README.zh.md has the code and the output of README.md,
// which TestREADME runs.
func TestREADME_Chinese(t *testing.T) {
	root := repository(t)
	var files [2][]Block
	for i, name := range []string{"README.md", "README.zh.md"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = Blocks(string(text))
	}
	en, zh := files[0], files[1]
	if len(en) != len(zh) {
		t.Fatalf("README.zh.md has %d blocks, README.md has %d", len(zh), len(en))
	}
	for i, b := range en {
		if zh[i].Language != b.Language || zh[i].Text != b.Text {
			t.Errorf("line %d of README.zh.md differs from line %d of README.md:\n%s",
				zh[i].Line, b.Line, zh[i].Text)
		}
	}
}
