package xlease

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
)

// sharedDir is the default directory, in the temporary directory of the system.
const sharedDir = "plinth-snowflake"

// InDirectory returns a backend for the processes of this host that use the same
// directory. A record expires after its TTL, or immediately when the process of its
// holder exits.
//
// If dir is "", the directory is plinth-snowflake in the temporary directory of the
// system, and all users of the host can write to it. If dir is not "" and does not exist,
// it is created with access for its owner only. The directory and its files must not be
// symbolic links.
//
// Processes that do not share the directory do not exclude each other. Examples are
// containers, services with a private temporary directory, and other hosts.
func InDirectory(dir string) driver.Backend {
	f := &directory{dir: dir, fileMode: 0o600, dirMode: 0o700, owner: rand.Text()}
	if dir == "" {
		f.dir = filepath.Join(os.TempDir(), sharedDir)
		f.fileMode, f.dirMode = 0o666, 0o777|os.ModeSticky
	}
	return &local{
		storage:      f,
		capabilities: driver.Capabilities{Scope: driver.Host, Durable: true, Name: f.dir},
		now:          func() int64 { return time.Now().UnixMicro() },
	}
}

// directory stores records in files, one for each name. A lock file is locked while a
// record file is open. Each backend also locks a file of its own until the process exits.
type directory struct {
	dir               string
	fileMode, dirMode os.FileMode
	owner             string // name of the file of this backend

	mu    sync.Mutex
	alive *flock.Flock // lock of the owner's file; nil before the first record
}

// Prepare implements storage.
func (f *directory) Prepare(ctx context.Context) error {
	lock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	return lock.Close()
}

// lockPoll is the pause between attempts to lock. Other processes usually hold the lock
// for a shorter time.
const lockPoll = time.Millisecond

func (f *directory) with(
	ctx context.Context, name string, now int64, do func(rs records) error,
) (err error) {
	lock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	file, err := f.open(f.path(fileName(name) + ".records"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	rs := &fileRecords{dir: f, file: file}
	if err := rs.loadStart(now); err != nil {
		return err
	}
	return do(rs)
}

func (f *directory) path(name string) string { return filepath.Join(f.dir, name) }

// fileName returns the file name for a lease name. It is unique and valid on every file
// system.
func fileName(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	if len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return "_" + hex.EncodeToString(sum[:])
}

// lock waits until no other call, in this or another process, has a record file open.
func (f *directory) lock(ctx context.Context) (*flock.Flock, error) {
	lock := existingLock(f.path("folder.lock"))
	err := f.createDir()
	if err == nil {
		err = f.createIfMissing(lock.Path())
	}
	if err == nil {
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err == nil {
		err = f.lockOwnFile()
	}
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("xlease: lease directory: %w", err)
	}
	return lock, nil
}

// existingLock returns the lock of a file that createIfMissing created. Closing an
// unopened lock does nothing.
func existingLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
}

const aliveSuffix = ".alive"

// lockOwnFile locks the file of this backend until the process exits. It creates the file
// again if a cleaner of temporary directories removed it. It also removes the files of
// processes that have exited.
func (f *directory) lockOwnFile() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := f.path(f.owner + aliveSuffix)
	if f.alive != nil {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
		_ = f.alive.Close() // the lock of a removed file
	}
	paths, _ := filepath.Glob(f.path("*" + aliveSuffix)) // the pattern is valid
	for _, path := range paths {
		removeAbandoned(path)
	}
	if err := f.createIfMissing(path); err != nil {
		return err
	}
	lock := existingLock(path)
	if _, err := lock.TryLock(); err != nil {
		return err
	}
	f.alive = lock
	return nil
}

// removeAbandoned removes a file if the process that locked it has exited, and reports
// whether that process has exited. The caller must hold the directory lock, so that no
// process is creating the file.
func removeAbandoned(path string) bool {
	lock := existingLock(path)
	locked, err := lock.TryLock()
	if err != nil || !locked {
		return errors.Is(err, os.ErrNotExist)
	}
	_ = lock.Close()
	_ = os.Remove(path) // a file of another user remains
	return true
}

func (f *directory) exited(owner string) bool {
	return owner != f.owner && removeAbandoned(f.path(owner+aliveSuffix))
}

// Close implements storage. It releases the lock of this backend.
func (f *directory) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alive == nil {
		return nil
	}
	err := f.alive.Close()
	f.alive = nil
	_ = os.Remove(f.path(f.owner + aliveSuffix)) // otherwise another process removes it
	return err
}

// createDir creates the directory if it is missing. It fails if the path is not a
// directory.
func (f *directory) createDir() error {
	err := os.MkdirAll(filepath.Dir(f.dir), 0o755) //nolint:gosec // a missing temporary directory
	if err != nil {
		return err
	}
	err = os.Mkdir(f.dir, f.dirMode.Perm())
	switch {
	case err == nil:
		return os.Chmod(f.dir, f.dirMode) // regardless of the umask
	case !errors.Is(err, os.ErrExist):
		return err
	}
	info, err := os.Lstat(f.dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory, or is a symbolic link", f.dir)
	}
	return err
}

func (f *directory) open(path string) (*os.File, error) {
	if err := f.createIfMissing(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|noFollow, 0) //nolint:gosec // the directory was configured
}

// createIfMissing creates an empty file if it is missing. It never opens an existing file
// with O_CREATE, which Linux rejects for files of other users in directories like /tmp
// (fs.protected_regular).
func (f *directory) createIfMissing(path string) error {
	info, err := os.Lstat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		return nil
	}
	const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL | noFollow
	file, err := os.OpenFile(path, flags, f.fileMode) //nolint:gosec // the directory was configured
	if errors.Is(err, os.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(f.fileMode), file.Close()) // regardless of the umask
}
