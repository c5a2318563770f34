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

// supported says that private servers can be started on this system.
const supported = true

// confine gives cmd a session and with it a process group of its own, so that a signal of
// the terminal does not reach it, and the rights of the first of users that exists where
// this process is root; without users it keeps those of root. Where the system can, it
// gets the signal when this process dies.
func confine(cmd *exec.Cmd, users []string, death syscall.Signal) error {
	attributes := &syscall.SysProcAttr{Setsid: true}
	inherit(attributes, death)
	if os.Geteuid() == 0 && len(users) > 0 {
		uid, gid, err := identity(users)
		if err != nil {
			return err
		}
		// ids of the system
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	cmd.SysProcAttr = attributes
	return nil
}

// identity returns the ids of the first of users that exists.
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
	return 0, 0, fmt.Errorf("the server must not run as root, and there is no user %s",
		strings.Join(users, " or "))
}

// own gives a folder and all in it to the user that the server runs as.
func own(dir string, users []string) error {
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
		return os.Lchown(path, uid, gid) //nolint:gosec // nobody else writes there
	})
}

// haltAll stops a process and its children until resumeAll. The parent is the first, so
// that it starts no further ones.
func haltAll(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGSTOP) // it may have ended
	}
	return nil
}

func resumeAll(pid int) {
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGCONT)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT)
}

// killAll ends a process, its group and its children. The parent is halted first, so that
// it starts no further ones.
func killAll(pid int) {
	_ = syscall.Kill(pid, syscall.SIGSTOP)
	for _, child := range children(pid) {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// terminate asks a process group to end.
func terminate(group int) { _ = syscall.Kill(-group, syscall.SIGTERM) }

// lock takes a lock on a file, or fails where another process has it. It ends with the
// process.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
