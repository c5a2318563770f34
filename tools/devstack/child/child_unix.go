//go:build linux || darwin

package child

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// atTerminal reports whether standard input is a terminal and this process is in its
// foreground group.
func atTerminal() bool {
	var group int32
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, os.Stdin.Fd(), syscall.TIOCGPGRP,
		uintptr(unsafe.Pointer(&group))) //nolint:gosec // ioctl requires the address
	return failed == 0 && int(group) == syscall.Getpgrp()
}

// separate starts cmd in its own process group.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// send sends a signal to the command, or to its process group if the group is not shared.
func send(p *os.Process, sig syscall.Signal, shared bool) error {
	if shared {
		return p.Signal(sig)
	}
	return syscall.Kill(-p.Pid, sig)
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
