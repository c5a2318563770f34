package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// fileLease is a lock on one file and the high-water mark in another. Windows locks keep everyone from
// writing to the locked file, also its holder.
type fileLease struct {
	slot               int
	lockPath, markPath string

	lock  *flock.Flock
	marks *os.File
	mark  time.Time
}

// open takes the lock, if it is free, and reads the mark.
func (f *fileLease) open() (locked bool, err error) {
	f.lock = flock.New(f.lockPath, flock.SetFlag(os.O_RDWR|noFollow))
	if locked, err = f.lock.TryLock(); err != nil || !locked {
		return false, err
	}
	if f.marks, err = os.OpenFile(f.markPath, os.O_RDWR|noFollow, 0); err != nil {
		return false, err
	}
	if f.mark, err = readMark(f.marks); err != nil {
		return false, err
	}
	return f.intact(), nil
}

// intact reports whether the paths still lead to the files that are open. What cleans temporary folders
// may have removed them, and then another process can lock new ones.
func (f *fileLease) intact() bool {
	lock, err1 := f.lock.Stat()
	marks, err2 := f.marks.Stat()
	lockNow, err3 := os.Lstat(f.lockPath)
	marksNow, err4 := os.Lstat(f.markPath)
	return errors.Join(err1, err2, err3, err4) == nil && os.SameFile(lock, lockNow) && os.SameFile(marks, marksNow)
}

// Slot implements Lease.
func (f *fileLease) Slot() int { return f.slot }

// ValidUntil implements Lease: the lock lasts as long as the process.
func (f *fileLease) ValidUntil() time.Time { return time.Time{} }

// Renew implements Lease.
func (f *fileLease) Renew(context.Context) error { return nil }

// NotBefore implements Recorder.
func (f *fileLease) NotBefore() time.Time { return f.mark }

// markFormat is of fixed width, so that each mark overwrites all of the last.
const markFormat = "%019d\n"

// Record implements Recorder. It writes 20 bytes at once and does not wait for the disk: the mark outlives
// the process, and need not outlive the host, which takes longer to start than a mark is ahead.
func (f *fileLease) Record(until time.Time) error {
	if !f.intact() {
		return fmt.Errorf("%w: %s was removed", ErrLeaseLost, f.lockPath)
	}
	_, err := f.marks.WriteAt(fmt.Appendf(nil, markFormat, max(until.UnixMilli(), 0)), 0)
	return err
}

// Release implements Lease. The files stay: to remove a lock that others may be opening is a race.
func (f *fileLease) Release(context.Context) error { return f.close() }

func (f *fileLease) close() error {
	var err error
	if f.marks != nil {
		err = f.marks.Close()
		f.marks = nil
	}
	return errors.Join(err, f.lock.Close())
}

// readMark reads a high-water mark; an empty file has none.
func readMark(r io.Reader) (time.Time, error) {
	data, err := io.ReadAll(io.LimitReader(r, 64))
	if err != nil {
		return time.Time{}, err
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return time.Time{}, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 {
		return time.Time{}, errors.New("the high-water mark is not a number of milliseconds")
	}
	return time.UnixMilli(ms), nil
}
