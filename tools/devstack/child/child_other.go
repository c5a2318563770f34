//go:build !linux && !darwin

package child

import (
	"os"
	"os/exec"
	"syscall"
)

func atTerminal() bool { return true }

func separate(*exec.Cmd) {}

// send can only kill: there are no other signals here.
func send(p *os.Process, _ syscall.Signal, _ bool) error { return p.Kill() }

func exitCode(state *os.ProcessState) int { return state.ExitCode() }
