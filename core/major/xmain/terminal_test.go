//go:build linux

package xmain_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// atTerminal runs a shell command in a pseudo terminal. The command starts a program.
// keyboard is the terminal's input.
func atTerminal(
	t *testing.T, command, name string, env ...string,
) (p *process, keyboard io.Writer) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a process")
	}
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script of util-linux is not installed; it creates the pseudo terminal")
	}
	path, _ := xenv.GetEnv("PATH")
	p = &process{t: t, cmd: exec.CommandContext(t.Context(), script, "-q", "-e", "-c",
		command, "/dev/null"), lines: make(chan string, 1000)}
	p.cmd.Dir = t.TempDir()
	p.cmd.Env = append([]string{
		programKey.String() + "=" + name, "PATH=" + path, "HOME=" + p.cmd.Dir,
		"TMPDIR=" + p.cmd.Dir, "SHELL=/bin/sh",
		"TERM=dumb", "PLINTH_HOST=127.0.0.1", "PLINTH_PORT=0", "LOG_DIR=none",
	}, env...)
	keyboard, err = p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	screen, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go p.read(bufio.NewScanner(screen))
	return p, keyboard
}

// waitOutput waits for a line of output that contains text.
func (p *process) waitOutput(text string) {
	p.t.Helper()
	timeout := time.After(testTimeout)
	for {
		select {
		case line, ok := <-p.lines:
			if strings.Contains(line, text) {
				return
			}
			if !ok {
				p.t.Fatalf("exited without %q:\n%s", text, p.output())
			}
		case <-timeout:
			p.t.Fatalf("no %q in\n%s", text, p.output())
		}
	}
}

func TestRunner_Terminal(t *testing.T) {
	interrupt := func(t *testing.T, command string, env ...string) time.Duration {
		t.Helper()
		p, keyboard := atTerminal(t, command, "serve", env...)
		p.waitOutput("ready")
		if _, err := keyboard.Write([]byte{3}); err != nil { // Ctrl-C
			t.Fatal(err)
		}
		code, elapsed := p.exit()
		if code != 0 {
			t.Errorf("exit code = %d, want 0:\n%s", code, p.output())
		}
		p.checkOrder("stopping", "stop hook", "node closed", "stopped")
		t.Logf("the shutdown took %s", elapsed)
		return elapsed
	}
	t.Run("Ctrl-C skips the drain delay", func(t *testing.T) {
		if elapsed := interrupt(t, "exec "+os.Args[0]); elapsed > 4*time.Second {
			t.Errorf("the shutdown took %s, want much less than the drain delay of 5s", elapsed)
		}
	})
	t.Run("Ctrl-C skips the drain delay if standard output is a pipe", func(t *testing.T) {
		if elapsed := interrupt(t, "trap : INT; "+os.Args[0]+
			" | (trap '' INT; exec cat)"); elapsed > 4*time.Second {
			t.Errorf("the shutdown took %s, want much less than the drain delay of 5s", elapsed)
		}
	})
	t.Run("a configured drain delay applies", func(t *testing.T) {
		if elapsed := interrupt(t, "exec "+os.Args[0],
			"PLINTH_DRAIN_DELAY=700ms"); elapsed < 600*time.Millisecond {
			t.Errorf("the shutdown took %s, want the drain delay of 700ms", elapsed)
		}
	})
}
