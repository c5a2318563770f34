// Package rotate writes a log file per process and rotates it by size and by day.
package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/DeRuina/timberjack"
	"github.com/gofrs/flock"
)

const maxWriters = 64

var errTooManyWriters = fmt.Errorf("%d other processes write to this directory", maxWriters)

// File is the current log file. Timberjack rotates it during a Write, with a rename and
// an open. It compresses and removes old files on a goroutine; Close waits for that
// goroutine.
//
// Timberjack requires exclusive access to a file, so File locks it. The operating system
// releases the lock when the process exits. If the first file is locked, Open tries the
// next name.
type File struct {
	*timberjack.Logger

	lock  *flock.Flock
	First bool // the file has the configured name
}

// Close closes the file and then releases its lock.
func (f *File) Close() error { return errors.Join(f.Logger.Close(), f.lock.Close()) }

// Open opens or creates the file of l, or a numbered file next to it. It first rotates a
// file that was last written on an earlier day, because timberjack rotates at midnight
// only while it runs.
func Open(l *timberjack.Logger, now time.Time) (*File, error) {
	const dirMode = 0o750
	if err := os.MkdirAll(filepath.Dir(l.Filename), dirMode); err != nil {
		return nil, err
	}
	path, lock, err := lockFile(l.Filename, l.FileMode)
	if err != nil {
		return nil, err
	}
	f := &File{Logger: l, lock: lock, First: path == l.Filename}
	l.Filename = path
	if err := f.start(now); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFile locks the first file of name and its numbered alternatives that no other
// process locks.
func lockFile(name string, mode fs.FileMode) (path string, lock *flock.Flock, err error) {
	for i := range maxWriters {
		path = numberedName(name, i+1)
		lock = flock.New(path+".lock",
			flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(mode))
		locked, err := lock.TryLock()
		if locked {
			return path, lock, nil
		}
		if err = errors.Join(err, lock.Close()); err != nil {
			return "", nil, err
		}
	}
	return "", nil, errTooManyWriters
}

// numberedName returns the file name of the nth process. Timberjack treats files whose
// names start with app- as rotated files of app.log. It also treats app.anything as a
// rotated file of app. A name such as app_2 is neither.
func numberedName(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s_%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// start rotates a file of an earlier day, and opens the file, so that Open fails if the
// file is not writable.
func (f *File) start(now time.Time) error {
	if info, err := os.Stat(f.Filename); err == nil && info.Size() > 0 &&
		day(info.ModTime()) < day(now) {
		if err := f.RotateWithReason("time"); err != nil {
			return err
		}
	}
	_, err := f.Write(nil)
	return err
}

func day(t time.Time) int64 { return t.Unix() / int64(24*time.Hour/time.Second) }
