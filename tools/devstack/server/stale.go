package server

import (
	"os"
	"path/filepath"
)

const (
	// prefix of the directories of groups
	prefix = "plinth-servers-"
	// lockFile is locked while the process that owns the directory runs.
	lockFile = "lock"
)

// temporary returns the temporary directory, or /tmp if other users cannot access it,
// because servers do not run as root.
func temporary() string {
	base := os.TempDir()
	if os.Geteuid() != 0 {
		return base
	}
	for dir := base; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return "/tmp"
		}
		if dir == filepath.Dir(dir) {
			return base
		}
	}
}

// mark marks dir as used by this process until the returned file is closed.
func mark(dir string) (*os.File, error) {
	// The file is renamed after it is locked, so that sweep does not find it unlocked.
	file, err := os.CreateTemp(dir, "new-")
	if err != nil {
		return nil, err
	}
	if err = lock(file); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, lockFile))
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// sweep removes the directories of killed processes. Their servers have exited or are
// exiting.
func sweep(base string) {
	if !supported {
		return
	}
	names, _ := filepath.Glob(filepath.Join(base, prefix+"*", lockFile))
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			continue // another user's file, or already removed
		}
		if lock(file) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = file.Close()
	}
}
