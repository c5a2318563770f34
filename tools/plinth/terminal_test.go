package main_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// atTerminal runs the program in a pseudo terminal and returns its output.
func atTerminal(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	screen, tty, err := pty.Open()
	if errors.Is(err, pty.ErrUnsupported) || errors.Is(err, os.ErrPermission) {
		t.Skip("no pseudo terminal here: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = screen.Close() }()
	if err := pty.Setsize(screen, &pty.Winsize{Rows: 50, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, dir, append([]string{"TERM=xterm-256color"}, env...), args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	var shown bytes.Buffer
	// Linux returns EIO after the last writer closed the terminal.
	_, _ = io.Copy(&shown, screen)
	_ = cmd.Wait()
	return shown.String()
}

// bold is the escape sequence of bold text.
const bold = "\x1b[1m"

func TestPlinth_Color(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"go.mod": "module example.com/shop\n"})
	for _, args := range [][]string{{"env", "--group", "ids"}, {"doctor"}} {
		for _, tc := range []struct {
			name  string
			env   []string
			flag  string
			want  bool
			plain bool
		}{
			{name: "terminal", want: true},
			{name: "NO_COLOR", env: []string{"NO_COLOR=1"}},
			{name: "TERM is dumb", env: []string{"TERM=dumb"}, plain: true},
			{name: "CLICOLOR=0", env: []string{"CLICOLOR=0"}},
			{name: "--no-color", flag: "--no-color"},
			{name: "--json", flag: "--json"},
		} {
			t.Run(args[0]+" "+tc.name, func(t *testing.T) {
				all := args
				if tc.flag != "" {
					all = append(slices.Clip(all), tc.flag)
				}
				got := atTerminal(t, dir, tc.env, all...)
				if strings.Contains(got, bold) != tc.want {
					t.Errorf("styled = %v, want %v:\n%q", !tc.want, tc.want, got)
				}
				if tc.plain && strings.Contains(got, "\x1b") {
					t.Errorf("output on a dumb terminal has escape sequences:\n%q", got)
				}
			})
		}
		if got := plinth(t, dir, nil, args...); strings.Contains(got.out+got.err, "\x1b") {
			t.Errorf("%v through a pipe has escape sequences: %q", args, got.out+got.err)
		}
	}
}

func TestEnv_TerminalWidth(t *testing.T) {
	got := atTerminal(t, t.TempDir(), []string{"NO_COLOR=1"}, "env", "--group", "ids")
	for line := range strings.Lines(got) {
		if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 90 {
			t.Errorf("a line has %d columns: %q", n, line)
		}
	}
	if !strings.Contains(got, "────") || !strings.Contains(got, "SNOWFLAKE_LEASE_TTL") {
		t.Errorf("no table:\n%s", got)
	}
}

func TestDoctor_Progress(t *testing.T) {
	dir := t.TempDir()
	if got := atTerminal(t, dir, nil, "doctor"); !strings.Contains(got, "checking") {
		t.Errorf("no progress: %q", got)
	}
	got := atTerminal(t, dir, []string{"CI=true"}, "doctor")
	if strings.Contains(got, "checking") {
		t.Errorf("progress in CI: %q", got)
	}
}
