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

// sharedFolder is the default folder, in the system's temporary one.
const sharedFolder = "plinth-snowflake"

// InFolder returns a backend that decides between the processes of this host that use the
// same folder. A record ends with its TTL and, at once, with the process of its holder,
// however that exits.
//
// With dir "" the folder is plinth-snowflake in the system's temporary one, which all
// users of the host may write to; another folder is created for its owner alone. Neither
// the folder nor its files may be symbolic links.
//
// Processes that do not share the folder do not exclude each other: containers, services
// with a private temporary folder, other hosts.
func InFolder(dir string) driver.Backend {
	f := &folder{dir: dir, file: 0o600, perm: 0o700, owner: rand.Text()}
	if dir == "" {
		f.dir, f.file, f.perm = filepath.Join(os.TempDir(), sharedFolder), 0o666,
			0o777|os.ModeSticky
	}
	return &local{
		storage:      f,
		capabilities: driver.Capabilities{Scope: driver.Host, Durable: true, Name: f.dir},
		now:          func() int64 { return time.Now().UnixMicro() },
	}
}

// folder is a storage in files: one with the records of each name, one that is locked
// while records are open, and one for each backend that is locked until the process
// exits.
type folder struct {
	dir        string
	file, perm os.FileMode
	owner      string // names the file of this backend

	mu    sync.Mutex
	alive *flock.Flock // of that file; nil before the first record
}

// Prepare implements storage.
func (f *folder) Prepare(ctx context.Context) error {
	lock, err := f.lock(ctx)
	if err != nil {
		return err
	}
	return lock.Close()
}

// lockPoll is how often a lock is tried that another process has. They have it for less.
const lockPoll = time.Millisecond

func (f *folder) with(
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
	rs := &fileRecords{folder: f, file: file}
	if err := rs.begin(now); err != nil {
		return err
	}
	return do(rs)
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// fileName returns a name that every file system accepts and tells apart from others.
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

// lock waits until no other call has records open, in whatever process.
func (f *folder) lock(ctx context.Context) (*flock.Flock, error) {
	lock := existingLock(f.path("folder.lock"))
	err := f.prepare()
	if err == nil {
		err = f.ensure(lock.Path())
	}
	if err == nil {
		_, err = lock.TryLockContext(ctx, lockPoll)
	}
	if err == nil {
		err = f.claim()
	}
	if err != nil {
		_ = lock.Close() // there is another error to return
		return nil, fmt.Errorf("xlease: folder of leases: %w", err)
	}
	return lock, nil
}

// existingLock returns the lock of a file that ensure has made. Closing one that was not
// opened does nothing.
func existingLock(path string) *flock.Flock {
	return flock.New(path, flock.SetFlag(os.O_RDWR|noFollow))
}

const aliveSuffix = ".alive"

// claim locks the file of this backend, whose lock ends with the process. What cleans
// temporary folders may have removed it. It removes the files of processes that have
// exited.
func (f *folder) claim() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := f.path(f.owner + aliveSuffix)
	if f.alive != nil {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
		_ = f.alive.Close() // of a file that was removed
	}
	paths, _ := filepath.Glob(f.path("*" + aliveSuffix)) // the pattern is valid
	for _, path := range paths {
		abandoned(path)
	}
	if err := f.ensure(path); err != nil {
		return err
	}
	lock := existingLock(path)
	if _, err := lock.TryLock(); err != nil {
		return err
	}
	f.alive = lock
	return nil
}

// abandoned reports whether the process that locked a file has exited, and removes the
// file then. It is called while records are open, so that no process is creating one.
func abandoned(path string) bool {
	lock := existingLock(path)
	locked, err := lock.TryLock()
	if err != nil || !locked {
		return errors.Is(err, os.ErrNotExist)
	}
	_ = lock.Close()
	_ = os.Remove(path) // a file of another user stays
	return true
}

// exited reports whether an owner has exited.
func (f *folder) exited(owner string) bool {
	return owner != f.owner && abandoned(f.path(owner+aliveSuffix))
}

// Close implements storage: it ends the lock of this backend.
func (f *folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.alive == nil {
		return nil
	}
	err := f.alive.Close()
	f.alive = nil
	_ = os.Remove(f.path(f.owner + aliveSuffix)) // another process removes it otherwise
	return err
}

// prepare makes sure that the folder exists and is a folder.
func (f *folder) prepare() error {
	if err := os.MkdirAll(filepath.Dir(f.dir), 0o755); err != nil { //nolint:gosec // a temporary folder that was missing
		return err
	}
	err := os.Mkdir(f.dir, f.perm.Perm())
	switch {
	case err == nil:
		return os.Chmod(f.dir, f.perm) // whatever the umask
	case !errors.Is(err, os.ErrExist):
		return err
	}
	info, err := os.Lstat(f.dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder, or a symbolic link to one", f.dir)
	}
	return err
}

// open opens a file of records, and creates it if it is missing.
func (f *folder) open(path string) (*os.File, error) {
	if err := f.ensure(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR|noFollow, 0) //nolint:gosec // the folder was configured
}

// ensure creates an empty file if it is missing. It never opens an existing one with
// O_CREATE, which Linux refuses for another user's file in a folder like /tmp
// (fs.protected_regular).
func (f *folder) ensure(path string) error {
	info, err := os.Lstat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, f.file) //nolint:gosec // the folder was configured
	if errors.Is(err, os.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(f.file), file.Close()) // whatever the umask
}
