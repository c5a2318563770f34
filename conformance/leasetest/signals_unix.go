//go:build !windows

package leasetest

import (
	"os"
	"syscall"
)

// freeze suspends a process.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// thaw continues a suspended process.
func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
