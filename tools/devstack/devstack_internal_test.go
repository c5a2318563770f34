//go:build linux || darwin

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/stack"
)

// asProgram makes the test binary run as devstack.
const asProgram = "DEVSTACK_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	os.Exit(m.Run())
}

// program returns a devstack command whose environment has no servers except added.
func program(t *testing.T, added []string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	for _, assignment := range os.Environ() {
		if !strings.HasPrefix(assignment, "PLINTH_TEST_") {
			cmd.Env = append(cmd.Env, assignment)
		}
	}
	cmd.Env = append(cmd.Env, asProgram+"=1")
	cmd.Env = append(cmd.Env, added...)
	return cmd
}

// skipUnlessInstalled skips the test if a kind of server is not installed.
func skipUnlessInstalled(t *testing.T, names string) {
	t.Helper()
	kinds, err := stack.Choose(names)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if err := k.Look(); err != nil {
			t.Skip(err)
		}
	}
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	exited := (*exec.ExitError)(nil)
	if !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return exited.ExitCode()
}

func TestDevstack_ExitCode(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		want int
	}{
		{name: "exit code of the command", args: []string{"--", "sh", "-c", "exit 7"}, want: 7},
		{name: "success", args: []string{"true"}, want: 0},
		{name: "missing command", args: []string{"no-such-command"}, want: 127},
		{name: "unknown flag", args: []string{"-sybase"}, want: 2},
		{name: "unknown kind", args: []string{"-only", "sybase", "true"}, want: 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := []string{
				"PLINTH_TEST_POSTGRES_DSN=postgres://127.0.0.1:1/x",
				"PLINTH_TEST_MYSQL_DSN=u@tcp(127.0.0.1:1)/x",
				"PLINTH_TEST_REDIS_URL=redis://127.0.0.1:1",
				"PLINTH_TEST_SMTP_URL=smtp://127.0.0.1:1",
			}
			out, err := program(t, env, tc.args...).CombinedOutput()
			if got := exitCode(t, err); got != tc.want {
				t.Errorf("exit code %d, want %d\n%s", got, tc.want, out)
			}
		})
	}
}

func TestDevstack_Missing(t *testing.T) {
	t.Run("reports a missing server", func(t *testing.T) {
		cmd := program(t, []string{"PATH=" + t.TempDir()}, "-only", "redis", "/bin/sh", "-c",
			`echo "url=$PLINTH_TEST_REDIS_URL"`)
		var out, problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &problems
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, problems.String())
		}
		if strings.Contains(problems.String(), "private server") {
			t.Skip("redis-server is installed outside of PATH")
		}
		if got := problems.String(); !strings.Contains(got, "SKIPPED") ||
			!strings.Contains(got, "apt-get install redis-server") {
			t.Errorf("table =\n%s", got)
		}
		if got := out.String(); got != "url=\n" {
			t.Errorf("the command wrote %q, want an unset variable", got)
		}
		packages, err := program(t, []string{"PATH=" + t.TempDir()}, "-only", "redis",
			"-missing").Output()
		if err != nil || string(packages) != "redis-server\n" {
			t.Errorf("-missing wrote %q, %v", packages, err)
		}
	})

	t.Run("lists programs unless kinds are selected", func(t *testing.T) {
		env := []string{"PATH=" + t.TempDir()}
		all, err := program(t, env, "-missing").Output()
		if err != nil || !strings.HasSuffix(string(all), "nodejs npm chromium fonts-noto-cjk\n") {
			t.Errorf("-missing wrote %q, %v; want npm and the browser at the end", all, err)
		}
		chosen, err := program(t, env, "-only", "redis", "-missing").Output()
		if err != nil || strings.Contains(string(chosen), "npm") {
			t.Errorf("-only redis -missing wrote %q, %v", chosen, err)
		}
	})
}

func TestDevstack_Streams(t *testing.T) {
	cmd := program(t, []string{"PLINTH_TEST_REDIS_URL=redis://127.0.0.1:1"}, "-only", "redis",
		"cat")
	cmd.Stdin = strings.NewReader("a text")
	if out, err := cmd.Output(); err != nil || string(out) != "a text" {
		t.Errorf("the command wrote %q, %v", out, err)
	}
}

// instance is a running devstack.
type instance struct {
	cmd       *exec.Cmd
	addresses []string // of the servers and the control endpoint
	encrypted []string // TLS ports, which some builds of servers lack
	folder    string
	done      chan error
}

// startDevstack starts devstack and waits until script has started. script must print the
// output of env. If script is empty, devstack runs without a command.
func startDevstack(t *testing.T, only, script string) *instance {
	t.Helper()
	args := []string{"-only", only}
	if script != "" {
		args = append(args, "--", "sh", "-c", script)
	}
	s := &instance{cmd: program(t, nil, args...), done: make(chan error, 1)}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stdout, s.cmd.Stderr = to, os.Stderr
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = to.Close()
	t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = from.Close() })
	lines := bufio.NewScanner(from)
	for wanted := 2 + strings.Count(only, ","); len(s.addresses) < wanted || s.folder == ""; {
		if !lines.Scan() {
			t.Fatalf("devstack exited: %v", lines.Err())
		}
		s.addVariable(t, lines.Text())
	}
	go func() {
		_, _ = io.Copy(io.Discard, from)
		s.done <- s.cmd.Wait()
	}()
	return s
}

// addVariable stores the address in a line of variables.
func (s *instance) addVariable(t *testing.T, line string) {
	t.Helper()
	name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
	value = strings.Trim(value, "'")
	switch {
	case !ok || !strings.HasPrefix(name, "PLINTH_TEST_"):
	case name == "PLINTH_TEST_TLS_CA":
		s.folder = filepath.Dir(value)
	case name == "PLINTH_TEST_MYSQL_DSN":
		_, rest, _ := strings.Cut(value, "(")
		address, _, _ := strings.Cut(rest, ")")
		s.addresses = append(s.addresses, address)
	case !strings.HasSuffix(name, "_SOURCE"):
		u, err := url.Parse(value)
		if err != nil {
			t.Fatal(err)
		}
		if u.Scheme == "rediss" {
			s.encrypted = append(s.encrypted, u.Host)
		} else {
			s.addresses = append(s.addresses, u.Host)
		}
	}
}

// wait waits for devstack to exit.
func (s *instance) wait(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("devstack did not exit")
		return nil
	}
}

// open returns the addresses that accept connections.
func (s *instance) open(t *testing.T) []string {
	t.Helper()
	var open []string
	for _, address := range slices.Concat(s.addresses, s.encrypted) {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			open = append(open, address)
		}
	}
	return open
}

// checkRemoved fails the test if a server or the directory of devstack still exists.
func (s *instance) checkRemoved(t *testing.T) {
	t.Helper()
	if open := s.open(t); len(open) > 0 {
		t.Errorf("servers still run at %q", open)
	}
	if _, err := os.Stat(s.folder); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory still exists: %v", err)
	}
}

func TestDevstack_Signal(t *testing.T) {
	for _, tc := range []struct {
		name string
		only string
		sig  syscall.Signal
	}{
		{
			name: "terminate databases and a cache",
			only: "postgres,mysql,redis", sig: syscall.SIGTERM,
		},
		{name: "terminate a mail server", only: "postfix", sig: syscall.SIGTERM},
		{name: "interrupt", only: "redis", sig: syscall.SIGINT},
		{name: "hang-up", only: "redis", sig: syscall.SIGHUP},
		{name: "quit", only: "redis", sig: syscall.SIGQUIT},
	} {
		t.Run(tc.name, func(t *testing.T) {
			skipUnlessInstalled(t, tc.only)
			// nohup ignores SIGHUP, and children inherit ignored signals
			if signal.Ignored(tc.sig) {
				signal.Notify(make(chan os.Signal, 1), tc.sig)
				t.Cleanup(func() { signal.Ignore(tc.sig) })
			}
			s := startDevstack(t, tc.only, "env; exec sleep 600")
			if open := s.open(t); len(open) != len(s.addresses)+len(s.encrypted) {
				t.Fatalf("open addresses = %q of %q", open, s.addresses)
			}
			if err := s.cmd.Process.Signal(tc.sig); err != nil {
				t.Fatal(err)
			}
			if got, want := exitCode(t, s.wait(t)), 128+int(tc.sig); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
			s.checkRemoved(t)
		})
	}
}

func TestDevstack_SecondSignal(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	s := startDevstack(t, "redis",
		`trap 'echo PLINTH_TEST_REFUSED' TERM; env; while :; do sleep 0.05; done`)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for exited := false; !exited; {
		select {
		case err := <-s.done:
			if got := exitCode(t, err); got != 128+9 {
				t.Errorf("exit code %d, want 137", got)
			}
			exited = true
		case <-tick.C: // the first signal may not have arrived yet; more signals have no effect
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	s.checkRemoved(t)
}

func TestDevstack_NoCommand(t *testing.T) {
	skipUnlessInstalled(t, "redis")
	s := startDevstack(t, "redis", "")
	if open := s.open(t); len(open) != len(s.addresses)+len(s.encrypted) {
		t.Errorf("open addresses = %q of %q", open, s.addresses)
	}
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := s.wait(t); err != nil {
		t.Errorf("devstack exited with %v", err)
	}
	s.checkRemoved(t)
}

func TestDevstack_Kill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no parent-death signal")
	}
	for _, only := range []string{"postgres,mysql,redis", "postfix"} {
		t.Run(only, func(t *testing.T) {
			skipUnlessInstalled(t, only)
			s := startDevstack(t, only, "env; echo; exec sleep 5")
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = s.wait(t)
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for timeout := time.After(20 * time.Second); len(s.open(t)) > 0; {
				select {
				case <-tick.C:
				case <-timeout:
					t.Fatalf("servers still run at %q", s.open(t))
				}
			}
			if out, err := program(t, nil, "-only", "redis", "true").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			s.checkRemoved(t) // the next devstack removed the directory
		})
	}
}
