package server

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// inherit does nothing: the system cannot tell a process that its parent has died.
func inherit(*syscall.SysProcAttr, syscall.Signal) {}

// grouped reports nothing: the servers of this system keep the pipe that tells when they
// have ended.
func grouped(int) bool { return false }

// children returns the processes that pid has started.
func children(pid int) []int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
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
