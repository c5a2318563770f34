//go:build linux || darwin

package child_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/plinthgo/plinth/tools/devstack/child"
)

// TestMain replaces standard input, because the tests cover commands without a terminal.
func TestMain(m *testing.M) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		panic(err)
	}
	os.Stdin = null
	os.Exit(m.Run())
}

func watch(t *testing.T) *child.Signals {
	t.Helper()
	s := child.Watch()
	t.Cleanup(s.Stop)
	return s
}

// raise sends a signal to this process.
func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

// startScript starts a shell script and waits until it prints ready. wait returns its
// exit code.
func startScript(t *testing.T, s *child.Signals, script string) (out *reader, wait func() int) {
	t.Helper()
	cmd := s.Command("sh", "-c", script)
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close() })
	cmd.Stdout = to
	code := make(chan int, 1)
	go func() {
		got, err := s.Run(cmd)
		_ = to.Close()
		if err != nil {
			t.Errorf("Run = %v", err)
		}
		code <- got
	}()
	r := &reader{t: t, file: from}
	r.until("ready\n")
	return r, func() int {
		select {
		case got := <-code:
			return got
		case <-time.After(20 * time.Second):
			t.Fatal("the command did not exit")
			return 0
		}
	}
}

type reader struct {
	t    *testing.T
	file *os.File
	text bytes.Buffer
}

// until reads up to text.
func (r *reader) until(text string) {
	r.t.Helper()
	if err := r.file.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		r.t.Fatal(err)
	}
	for !strings.HasSuffix(r.text.String(), text) {
		if _, err := io.CopyN(&r.text, r.file, 1); err != nil {
			r.t.Fatalf("read %q: %v", r.text.String(), err)
		}
	}
}

func TestSignals_Run_ExitCode(t *testing.T) {
	s := watch(t)
	for _, tc := range []struct {
		name, script string
		want         int
	}{
		{name: "success", script: "true", want: 0},
		{name: "exit code", script: "exit 7", want: 7},
		{name: "signal", script: "kill -TERM $$", want: 128 + 15},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, err := s.Run(s.Command("sh", "-c", tc.script)); err != nil || got != tc.want {
				t.Errorf("Run = %d, %v; want %d", got, err, tc.want)
			}
		})
	}
	if _, err := s.Run(s.Command("no-such-command")); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("Run = %v, want exec.ErrNotFound", err)
	}
}

func TestSignals_Run_Forwarding(t *testing.T) {
	for _, sig := range []syscall.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT,
	} {
		t.Run(sig.String(), func(t *testing.T) {
			// nohup ignores SIGHUP, and children inherit ignored signals
			if signal.Ignored(sig) {
				signal.Notify(make(chan os.Signal, 1), sig)
				t.Cleanup(func() { signal.Ignore(sig) })
			}
			s := watch(t)
			// The inner shell is a child of the command. It inherits no traps.
			script := `trap 'wait; exit 7' INT TERM HUP QUIT; sh -c 'trap "echo inner; exit" INT TERM HUP QUIT; echo ready; while :; do sleep 0.05; done'; wait`
			out, wait := startScript(t, s, script)
			raise(t, sig)
			out.until("inner\n")
			if got := wait(); got != 7 {
				t.Errorf("exit code %d, want 7", got)
			}
			if got := (child.Interrupted{}); !errors.As(s.Err(), &got) || got.Signal != sig {
				t.Errorf("Err = %v, want Interrupted", s.Err())
			}
		})
	}
}

func TestSignals_Run(t *testing.T) {
	t.Run("kills the command on a second signal", func(t *testing.T) {
		s := watch(t)
		out, wait := startScript(t, s,
			`trap 'echo caught' TERM; echo ready; while :; do sleep 0.05; done`)
		raise(t, syscall.SIGTERM)
		out.until("caught\n")
		raise(t, syscall.SIGTERM)
		if got := wait(); got != 128+9 {
			t.Errorf("exit code %d, want 137", got)
		}
	})

	t.Run("starts no command after a signal", func(t *testing.T) {
		s := watch(t)
		raise(t, syscall.SIGTERM)
		<-s.Context().Done()
		if _, err := s.Run(s.Command("true")); err == nil {
			t.Error("Run started a command")
		}
	})
}

func TestGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := child.Group(ctx, "sh", "-c",
		`trap 'wait; exit 7' INT; sh -c 'trap "echo inner; exit" INT; echo ready; while :; do sleep 0.05; done'; wait`)
	from, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(from)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("output of the command = %q", lines.Text())
	}
	cancel()
	if !lines.Scan() || lines.Text() != "inner" {
		t.Errorf("output of the inner command = %q, want inner", lines.Text())
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 7 {
		t.Errorf("exit code %d, want 7", got)
	}
}
