package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// program is the path of the binary that TestMain builds.
var program string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "plinth")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(dir, "plinth.exe") // Windows needs the suffix
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o",
		program, "github.com/plinthgo/plinth/tools/plinth").CombinedOutput()
	if err != nil {
		panic(fmt.Sprintf("build: %v\n%s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// result is the outcome of a run.
type result struct {
	out, err string
	code     int
}

// command returns a command in dir. Its environment contains env, and no other variable
// of Plinth.
func command(ctx context.Context, dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	known := map[string]bool{
		"CI": true, "NO_COLOR": true, "CLICOLOR": true, "CLICOLOR_FORCE": true,
		"GOWORK": true,
	}
	for _, v := range xenv.Table() {
		known[v.Key.String()] = true
	}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); !known[name] {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// plinth runs the program and waits for it.
func plinth(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, dir, env, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{out: out.String(), err: errs.String(), code: cmd.ProcessState.ExitCode()}
}

// put writes files below dir.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// decode decodes JSON output.
func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("the output is not JSON: %v\n%s", err, text)
	}
}

func TestPlinth_ExitCodes(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		name string
		env  []string
		args []string
		code int
		want string // on standard error
	}{
		{name: "help", args: []string{"--help"}, code: 0},
		{name: "no command", code: 0},
		{
			name: "unknown command",
			args: []string{"dcotor"}, code: 2,
			want: "plinth: unknown command \"dcotor\" for \"plinth\"\n\nDid you mean this?\n\tdoctor\nSee plinth --help\n",
		},
		{
			name: "help on an unknown command", args: []string{"help", "nope"}, code: 2,
			want: "plinth: unknown command \"nope\"\nSee plinth help --help\n",
		},
		{name: "help on a command", args: []string{"help", "migrate", "up"}, code: 0},
		{
			name: "unknown shell",
			args: []string{"completion", "nope"}, code: 2,
			want: "plinth: unknown subcommand of plinth completion: \"nope\"; available: bash, zsh, fish, powershell\nSee plinth completion --help\n",
		},
		{
			name: "unknown flag", args: []string{"env", "--bad"}, code: 2,
			want: "plinth: unknown flag: --bad\nSee plinth env --help\n",
		},
		{
			name: "extra argument",
			args: []string{"version", "x"}, code: 2,
			want: "plinth: unknown command \"x\" for \"plinth version\"\nSee plinth version --help\n",
		},
		{
			name: "missing subcommand", args: []string{"migrate"}, code: 2,
			want: "plinth: plinth migrate requires a subcommand: up, status\nSee plinth migrate --help\n",
		},
		{
			name: "unknown subcommand",
			args: []string{"migrate", "down"}, code: 2,
			want: "plinth: unknown subcommand of plinth migrate: \"down\"; available: up, status\nSee plinth migrate --help\n",
		},
		{
			name: "unknown format",
			args: []string{"env", "--format", "xml"}, code: 2,
			want: "plinth: unknown format \"xml\"; available: table, markdown, dotenv, schema\nSee plinth env --help\n",
		},
		{
			name: "conflicting formats",
			args: []string{"env", "--json", "--format", "dotenv"}, code: 2,
			want: "plinth: --json cannot be combined with --format dotenv\nSee plinth env --help\n",
		},
		{
			name: "failure", args: []string{"migrate", "up"}, code: 1,
			want: "plinth: the directory internal/migration does not exist; set the directory of the SQL files with --dir\n",
		},
		{
			name: "invalid value with --check",
			env:  []string{"PLINTH_PORT=abc"}, args: []string{"env", "--check"}, code: 3,
			want: "problem: PLINTH_PORT: \"abc\" is not an integer (accepted: 0 to 65535)\n",
		},
		{
			name: "invalid value without --check",
			env:  []string{"PLINTH_PORT=abc"}, args: []string{"env"}, code: 0,
			want: "problem: PLINTH_PORT: \"abc\" is not an integer (accepted: 0 to 65535)\n",
		},
		{name: "valid values with --check", args: []string{"env", "--check"}, code: 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := plinth(t, dir, tc.env, tc.args...)
			if got.code != tc.code || got.err != tc.want {
				t.Errorf("exit code %d and %q, want %d and %q", got.code, got.err, tc.code, tc.want)
			}
		})
	}
}

func TestPlinth_Help(t *testing.T) {
	got := plinth(t, t.TempDir(), nil, "help")
	for _, want := range []string{
		"0  success", "1  failure", "2  invalid command line",
		"3  the check found a problem",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("the help lacks %q:\n%s", want, got.out)
		}
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	plain := plinth(t, dir, nil, "version")
	if !strings.HasPrefix(plain.out, "plinth ") ||
		!strings.Contains(plain.out, "github.com/plinthgo/plinth/core ") {
		t.Errorf("version = %q", plain.out)
	}
	var v struct {
		Version, Go string
		Modules     []struct{ Path, Version string }
	}
	decode(t, plinth(t, dir, nil, "version", "--json").out, &v)
	if v.Version == "" || !strings.HasPrefix(v.Go, "go1.") || len(v.Modules) == 0 {
		t.Errorf("version --json = %+v", v)
	}
}

func TestCompletion(t *testing.T) {
	dir := t.TempDir()
	for shell, want := range map[string]string{
		"bash": "complete -o default", "zsh": "#compdef plinth", "fish": "complete -c plinth",
		"powershell": "Register-ArgumentCompleter",
	} {
		if got := plinth(t, dir, nil, "completion", shell); got.code != 0 ||
			!strings.Contains(got.out, want) {
			t.Errorf("completion %s: exit code %d, or no %q", shell, got.code, want)
		}
	}
	for _, tc := range []struct{ typed, want string }{
		{"doc", "doctor"},
		{"env --format ", "dotenv"},
		{"op", "openapi"},
		{"openapi --", "--allow-breaking"},
		{"env --group ", "Database"},
		{"migrate ", "status"},
	} {
		args := append([]string{"__complete"}, strings.Split(tc.typed, " ")...)
		if got := plinth(t, dir, nil, args...); !strings.Contains(got.out, tc.want) {
			t.Errorf("completion of %q = %q, want %q in it", tc.typed, got.out, tc.want)
		}
	}
}
