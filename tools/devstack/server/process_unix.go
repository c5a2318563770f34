//go:build linux || darwin

package server

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// supported reports whether private servers can be started on this platform.
const supported = true

// confine starts cmd in its own session and process group, so that signals of the
// terminal do not reach it. If this process is root, cmd runs as the first existing user
// of users; without users it runs as root. On Linux, cmd receives the signal death when
// this process exits.
func confine(cmd *exec.Cmd, users []string, death syscall.Signal) error {
	attributes := &syscall.SysProcAttr{Setsid: true}
	inherit(attributes, death)
	if os.Geteuid() == 0 && len(users) > 0 {
		uid, gid, err := identity(users)
		if err != nil {
			return err
		}
		// user and group IDs have 32 bits
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	cmd.SysProcAttr = attributes
	return nil
}

// identity returns the IDs of the first existing user.
func identity(users []string) (uid, gid int, err error) {
	for _, name := range users {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(found.Uid)
		gid, gidErr := strconv.Atoi(found.Gid)
		if uidErr == nil && gidErr == nil && uid > 0 {
			return uid, gid, nil
		}
	}
	return 0, 0, fmt.Errorf("the server must not run as root, and no user %s exists",
		strings.Join(users, " or "))
}

// changeOwner changes the owner of a directory and its content to the user of the server.
func changeOwner(dir string, users []string) error {
	if os.Geteuid() != 0 || len(users) == 0 {
		return nil
	}
	uid, gid, err := identity(users)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid) //nolint:gosec // no other user writes there
	})
}

// haltAll stops a process and its children until resumeAll. It stops the parent first, so
// that no more children are started.
func haltAll(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGSTOP) // the child may have exited
	}
	return nil
}

func resumeAll(pid int) {
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGCONT)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// killAll kills a process, its group and its children. It stops the parent first, so that
// no more children are started.
func killAll(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// terminate sends SIGTERM to a process group.
func terminate(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }

// lock locks a file, or returns an error if another process has the lock. The lock is
// released when the process exits.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
