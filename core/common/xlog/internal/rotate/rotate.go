// Package rotate writes a log file that is rotated by size and day, one for each process.
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

// maxWriters is how many processes can write to one folder.
const maxWriters = 64

var errTaken = fmt.Errorf("%d other processes write to this folder", maxWriters)

// File is the file that is written now. Timberjack rotates it under the lock of a Write,
// which takes a rename and an open; it compresses and removes old files on a goroutine
// that Close waits for.
//
// Timberjack wants a file for itself. So each is locked as long as it is written, which
// ends with the process however that ends, and who finds the first one locked takes the
// second.
type File struct {
	*timberjack.Logger

	lock  *flock.Flock
	First bool // it has the name that was asked for
}

// Close closes the file and then gives it to others.
func (f *File) Close() error { return errors.Join(f.Logger.Close(), f.lock.Close()) }

// Open opens or makes the file of l, or one beside it. A file that was last written on an
// earlier day is rotated first: timberjack rotates at midnight only while it runs.
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
	if err := f.begin(now); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFile locks the first of the files that belong to name which no other process
// writes.
func lockFile(name string, mode fs.FileMode) (path string, lock *flock.Flock, err error) {
	for i := range maxWriters {
		path = numbered(name, i+1)
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
	return "", nil, errTaken
}

// numbered is the name of the file of the nth process. Timberjack takes what begins with
// app- for rotated files of app.log, and everything with any ending for those of a name
// that has none; app_2 is neither.
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	ext := filepath.Ext(name)
	return fmt.Sprintf("%s_%d%s", strings.TrimSuffix(name, ext), n, ext)
}

// begin opens the file, so that a file that cannot be written is known at once.
func (f *File) begin(now time.Time) error {
	if info, err := os.Stat(f.Filename); err == nil && info.Size() > 0 &&
		day(info.ModTime()) < day(now) {
		if err := f.RotateWithReason("time"); err != nil {
			return err
		}
	}
	_, err := f.Write(nil)
	return err
}

// day counts the days since 1970 in UTC.
func day(t time.Time) int64 { return t.Unix() / int64(24*time.Hour/time.Second) }
