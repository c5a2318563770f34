//go:build !linux && !darwin

package child

import (
	"os"
	"os/exec"
	"syscall"
)

func atTerminal() bool { return true }

func separate(*exec.Cmd) {}

// send kills the process: this platform has no other signals.
func send(p *os.Process, _ syscall.Signal, _ bool) error { return p.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
