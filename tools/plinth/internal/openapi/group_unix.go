//go:build unix

package openapi

import (
	"os/exec"
	"syscall"
)

// separate starts cmd in its own process group and makes the cancellation of its context
// kill the whole group.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
