package server

import (
	"os"
	"path/filepath"
)

const (
	// prefix is that of the folders of groups.
	prefix = "plinth-servers-"
	// lockFile is locked as long as the process lives to which the folder belongs.
	lockFile = "lock"
)

// temporary is the system's folder for temporary files, or /tmp where other users cannot
// get into that: servers do not run as root.
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

// mark says that dir belongs to this process, until the file is closed.
func mark(dir string) (*os.File, error) {
	// The file gets its name when it is locked: sweep must not find it before.
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

// sweep removes what processes have left that were killed. Their servers have ended with
// them, or end now.
func sweep(base string) {
	if !supported {
		return
	}
	names, _ := filepath.Glob(filepath.Join(base, prefix+"*", lockFile))
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			continue // it is not ours, or gone meanwhile
		}
		if lock(file) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = file.Close()
	}
}
