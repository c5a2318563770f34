//go:build !windows

package leasetest

import (
	"os"
	"syscall"
)

// suspend suspends a process.
func suspend(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// resume resumes a suspended process.
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
