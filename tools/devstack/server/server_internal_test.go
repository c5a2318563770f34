package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// script is a fake kind of server that runs a shell script.
type script string

func (script) find() (programs, error) {
	server, err := program([]string{"bash"}, nil)
	return programs{server: server}, err
}

func (script) product(string) string                { return "Script 1" }
func (script) prepare(context.Context, *site) error { return nil }
func (s script) command(at *site) ([]string, string) {
	return []string{"-c", string(s), strconv.Itoa(at.port)}, ""
}
func (script) probe(net.Conn, *site) error    { return nil }
func (script) dsn(s *site) string             { return s.address() }
func (script) discard(context.Context, *site) {}
func (s script) kind() *Kind {
	return &Kind{
		Name: "script", Package: "dash", users: []string{"nobody"}, marker: "ready",
		stop: syscall.SIGTERM, drop: syscall.SIGKILL, engine: s,
	}
}

// startScript starts the fake server and returns the error of Start.
func startScript(t *testing.T, s script) error {
	t.Helper()
	if !supported {
		t.Skip("no private servers on this platform")
	}
	g, err := NewGroup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kind := s.kind()
	g.templates[kind] = &template{}
	_, startErr := g.Start(t.Context(), kind)
	if missing := (*Missing)(nil); errors.As(startErr, &missing) {
		t.Skip(missing)
	}
	if err := g.Close(t.Context()); err != nil {
		t.Fatalf("Close = %v", err)
	}
	return startErr
}

func TestGroup_Start_Script(t *testing.T) {
	t.Run("shows the end of the log if the server exits", func(t *testing.T) {
		err := startScript(t, "echo early; i=0; while [ $i -lt 30 ]; do i=$((i+1)); echo line $i; done; echo no space left; exit 1")
		if err == nil || !strings.Contains(err.Error(),
			"script did not start: the process exited") ||
			!strings.Contains(err.Error(), "no space left") ||
			strings.Contains(err.Error(), "early") {
			t.Errorf("Start = %v", err)
		}
	})

	t.Run("selects another port if the port is in use", func(t *testing.T) {
		err := startScript(t, `echo $0 >>ports; n=$(sort -u ports | wc -l)
		if [ $n -ge 3 ]; then echo three ports; else echo bind: Address already in use; fi; exit 1`)
		if err == nil || errors.Is(err, errInUse) || !strings.Contains(err.Error(), "three ports") {
			t.Errorf("Start = %v, want an attempt with each of three ports", err)
		}
		err = startScript(t, "echo bind: Address already in use; exit 1")
		if !errors.Is(err, errInUse) {
			t.Errorf("Start = %v, want errInUse", err)
		}
	})
}

func TestProcess_Kill(t *testing.T) {
	shell, err := program([]string{"bash"}, nil)
	if err != nil || !supported {
		t.Skip("bash or signals are missing")
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.CommandContext(t.Context(), shell, "-c", "set -m; sleep 600 & echo ready; wait")
	cmd.Stdout = in
	p, err := start(cmd)
	_ = in.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	if !p.isRunning() {
		t.Error("the process is not running")
	}
	if err := p.kill(); err != nil {
		t.Fatalf("kill = %v", err) // the child still runs and would block the next read
	}
	// EOF: no process has the pipe open
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 || p.isRunning() {
		t.Errorf("after the kill: %q, %v, isRunning = %v", rest, err, p.isRunning())
	}
}

func TestSite_Masked(t *testing.T) {
	s := &site{password: "s3cret"}
	err := s.masked(errors.New("syntax error near 's3cret'"))
	if err == nil || strings.Contains(err.Error(), "s3cret") ||
		!strings.Contains(err.Error(), "near '***'") {
		t.Errorf("masked = %v", err)
	}
}

func TestSweep(t *testing.T) {
	if !supported {
		t.Skip("no file locks on this platform")
	}
	base := t.TempDir()
	create := func(name string) string {
		dir := filepath.Join(base, prefix+name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	running, exited, unmarked := create("running"), create("exited"), create("unmarked")
	runningLock, err := mark(running)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = runningLock.Close() }()
	exitedLock, err := mark(exited)
	if err != nil {
		t.Fatal(err)
	}
	if err := exitedLock.Close(); err != nil {
		t.Fatal(err)
	}
	sweep(base)
	for _, tc := range []struct {
		name, dir string
		want      bool
	}{
		{name: "running process", dir: running, want: true},
		{name: "exited process", dir: exited, want: false},
		{name: "not marked", dir: unmarked, want: true},
	} {
		if got := exists(tc.dir); got != tc.want {
			t.Errorf("%s: exists = %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestProgram(t *testing.T) {
	base := t.TempDir()
	for _, version := range []string{"9.6", "15", "16", "8"} {
		dir := filepath.Join(base, version, "bin")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if version == "16" {
			continue // a directory without the program
		}
		if err := os.WriteFile(filepath.Join(dir, "no-such-server"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got, err := program([]string{"no-such-server"}, []string{filepath.Join(base, "*", "bin")})
	if want := filepath.Join(base, "15", "bin", "no-such-server"); err != nil || got != want {
		t.Errorf("program = %q, %v; want %q", got, err, want)
	}
}

func TestMissing_Error(t *testing.T) {
	_, err := program([]string{"no-such-server"}, nil)
	if err == nil {
		t.Fatal("program found a missing server")
	}
	text := (&Missing{Kind: redisKind, Problem: err.Error()}).Error()
	if supported && (!strings.Contains(text, "no-such-server") ||
		!strings.Contains(text, "apt-get install redis-server")) {
		t.Errorf("Error = %q", text)
	}
}

func TestKind_Product(t *testing.T) {
	for _, tc := range []struct {
		name string
		kind *Kind
		text string
		want string
	}{
		{
			name: "PostgreSQL",
			kind: postgresKind, text: "postgres (PostgreSQL) 15.4 (Debian 15.4-1)",
			want: "PostgreSQL 15.4",
		},
		{
			name: "PostgreSQL beta", kind: postgresKind, text: "postgres (PostgreSQL) 19beta1",
			want: "PostgreSQL 19",
		},
		{
			name: "MariaDB", kind: mysqlKind, text: "mariadbd  Ver 10.11.6-MariaDB-0 for linux",
			want: "MariaDB 10.11.6",
		},
		{
			name: "MySQL", kind: mysqlKind,
			text: "/opt/mysql-9/mysqld  Ver 8.0.39-0ubuntu0 for Linux",
			want: "MySQL 8.0.39",
		},
		{name: "Redis", kind: redisKind, text: "Redis server v=7.0.15 sha=0", want: "Redis 7.0.15"},
		{
			name: "Postfix", kind: postfixKind, text: "mail_version = 3.7.11\n",
			want: "Postfix 3.7.11",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.kind.product(tc.text); got != tc.want {
				t.Errorf("product = %q, want %q", got, tc.want)
			}
		})
	}
}
