package server

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// inherit does nothing: macOS has no parent-death signal.
func inherit(*syscall.SysProcAttr, syscall.Signal) {}

// grouped returns false: on macOS, servers keep the pipe open until they exit.
func grouped(int) bool { return false }

// children returns the child processes of pid.
func children(pid int) []int {
	ctx, cancel := context.WithTimeout(context.Background(), stepTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	var found []int
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		if len(words) != 2 || words[1] != strconv.Itoa(pid) {
			continue
		}
		if child, err := strconv.Atoi(words[0]); err == nil {
			found = append(found, child)
		}
	}
	return found
}
