//go:build linux || darwin

package child

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"
)

// atTerminal reports whether this process is in the foreground of a terminal that is its
// standard input.
func atTerminal() bool {
	var group int32
	_, _, failed := syscall.Syscall(syscall.SYS_IOCTL, os.Stdin.Fd(), syscall.TIOCGPGRP,
		uintptr(unsafe.Pointer(&group))) //nolint:gosec // the call of the system takes the address
	return failed == 0 && int(group) == syscall.Getpgrp()
}

// separate puts the command into a process group of its own.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// send sends a signal to a command, and to its group where that is its own.
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
