//go:build !linux && !darwin

package server

import (
	"os"
	"os/exec"
	"syscall"
)

// supported reports whether private servers can be started on this platform.
const supported = false

func confine(*exec.Cmd, []string, syscall.Signal) error { return nil }

func changeOwner(string, []string) error { return nil }

func haltAll(int) error { return nil }

func resumeAll(int) {}

func killAll(int) {}

func terminate(int) {}

func grouped(int) bool { return false }

func lock(*os.File) error { return nil }
