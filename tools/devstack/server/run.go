package server

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// runAs runs a command as one of users and returns its output. Errors contain the end of
// the output.
func runAs(
	ctx context.Context, users []string, dir, stdin string, command []string,
) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, environment(dir), strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { killAll(cmd.Process.Pid); return nil }
	cmd.WaitDelay = 5 * time.Second
	if err := confine(cmd, users, syscall.SIGKILL); err != nil {
		return "", err
	}
	runtime.LockOSThread() // see start
	defer runtime.UnlockOSThread()
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w%s", filepath.Base(command[0]), err, tail(out.String()))
	}
	return out.String(), nil
}

// environment returns the environment of servers. It does not affect their behavior.
func environment(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=" + dir, "TMPDIR=" + dir, "LC_ALL=C",
	}
}

// tail returns the end of a log for an error.
func tail(log string) string {
	const maxLines = 15
	lines := slices.Collect(strings.Lines(strings.TrimSpace(log)))
	if len(lines) == 0 {
		return " (empty log)"
	}
	return "; end of its log:\n" + strings.Join(lines[max(0, len(lines)-maxLines):], "")
}
