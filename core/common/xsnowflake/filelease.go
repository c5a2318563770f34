package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// leaseFolder is the default folder, in the system's temporary one.
const leaseFolder = "plinth-snowflake"

// FileLeaser hands out node numbers among the processes of one host, by locks on files in dir.
//
// The lock ends with the process, however that ends. Beside each lock a file holds the high-water mark of
// its slot. With dir "" the folder is plinth-snowflake in the system's temporary one, which all users of
// the host may write to; another folder is created for its owner alone. Neither folder nor files may be
// symbolic links.
//
// Processes that do not share the folder do not see each other's locks: containers, services with a
// private temporary folder, other hosts. They begin their search at a random slot, and two of them get the
// same one soon: of 8 replicas in the 64 slots of LayoutDefault, in 37 % of all starts. Give them numbers,
// or a Leaser that they share.
func FileLeaser(dir string) Leaser {
	if dir == "" {
		return fileLeaser{dir: filepath.Join(os.TempDir(), leaseFolder), shared: true, now: time.Now}
	}
	return fileLeaser{dir: dir, now: time.Now}
}

// errBroken reports files that cannot be locked for another reason than a lock.
var errBroken = errors.New("slots cannot be used")

type fileLeaser struct {
	dir    string
	shared bool // by all users of the host
	now    func() time.Time
}

// WithClock implements Clocked.
func (l fileLeaser) WithClock(now func() time.Time) Leaser {
	l.now = now
	return l
}

// Prepare implements Preparer: it locks a file and lets go of it, because a folder that cannot be used is a
// mistake in the configuration.
func (l fileLeaser) Prepare(ctx context.Context) error {
	lease, err := l.Lease(ctx, 0, 1)
	switch {
	case errors.Is(err, ErrNoSlot) && !errors.Is(err, errBroken):
		return nil // another process has it
	case err != nil:
		return err
	}
	return lease.Release(ctx)
}

// scans is how often all slots are tried: another process that searches holds a lock for a moment.
const scans = 3

// Lease implements Leaser.
func (l fileLeaser) Lease(ctx context.Context, first, count int) (Lease, error) {
	if err := l.prepare(); err != nil {
		return nil, fmt.Errorf("xsnowflake: the folder of the node leases: %w (set %s to another one, or %s)",
			err, xenv.SnowflakeLeaseDir, xenv.SnowflakeNodeID)
	}
	begin := rand.IntN(count) //nolint:gosec // no secret
	var broken []error
	for i := range scans {
		if i > 0 && !pause(ctx, time.Duration(i)*minPause) {
			return nil, ctx.Err()
		}
		var best *fileLease
		if best, broken = l.scan(first, begin, count); best != nil {
			return best, nil
		}
	}
	err := fmt.Errorf("%w: %d of %d in %s are in use by other processes (set %s and %s, or stop one%s)",
		ErrNoSlot, count-len(broken), count, l.dir, xenv.SnowflakeDatacenterID, xenv.SnowflakeNodeID, MoreNodes(count))
	if len(broken) > 0 {
		err = errors.Join(err, fmt.Errorf("%d %w, the first because of: %w", len(broken), errBroken, broken[0]))
	}
	return nil, err
}

// scan locks the first slot whose mark is past, or else the one whose mark is the earliest.
func (l fileLeaser) scan(first, begin, count int) (best *fileLease, broken []error) {
	now := l.now()
	for i := range count {
		lease, err := l.try(first + (begin+i)%count)
		switch {
		case err != nil:
			broken = append(broken, err)
			continue
		case lease == nil: // taken
			continue
		case best == nil:
			best = lease
		case lease.mark.Before(best.mark):
			_ = best.close()
			best = lease
		default:
			_ = lease.close()
		}
		if !best.mark.After(now) {
			break
		}
	}
	return best, broken
}

// prepare makes sure that the folder exists and is a folder.
func (l fileLeaser) prepare() error {
	if err := os.MkdirAll(filepath.Dir(l.dir), 0o755); err != nil { //nolint:gosec // a temporary folder that was missing
		return err
	}
	perm := os.FileMode(0o700)
	if l.shared {
		perm = 0o777 | os.ModeSticky
	}
	err := os.Mkdir(l.dir, perm.Perm())
	switch {
	case err == nil:
		return os.Chmod(l.dir, perm) // whatever the umask
	case !errors.Is(err, os.ErrExist):
		return err
	}
	info, err := os.Lstat(l.dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder, or a symbolic link to one", l.dir)
	}
	return nil
}

// try locks a slot; the lease is nil where another process has it.
func (l fileLeaser) try(slot int) (*fileLease, error) {
	base := filepath.Join(l.dir, fmt.Sprintf("slot-%02d", slot))
	perm := os.FileMode(0o600)
	if l.shared {
		perm = 0o666
	}
	lease := &fileLease{slot: slot, lockPath: base + ".lock", markPath: base + ".mark"}
	if err := errors.Join(ensureFile(lease.lockPath, perm), ensureFile(lease.markPath, perm)); err != nil {
		return nil, err
	}
	locked, err := lease.open()
	if err != nil || !locked {
		_ = lease.close()
		return nil, err
	}
	return lease, nil
}

// ensureFile creates an empty file where there is none. It never opens an existing one with O_CREATE,
// which Linux refuses for another user's file in a folder like /tmp (fs.protected_regular).
func ensureFile(path string, perm os.FileMode) error {
	info, err := os.Lstat(path)
	if err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|noFollow, perm) //nolint:gosec // the folder was configured
	if errors.Is(err, os.ErrExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(perm), f.Close()) // whatever the umask
}
