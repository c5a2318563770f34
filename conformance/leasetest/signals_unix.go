//go:build !windows

package leasetest

import (
	"os"
	"syscall"
)

// freeze stops a process as it is.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// thaw lets it go on.
func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
