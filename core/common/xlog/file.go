package xlog

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/DeRuina/timberjack"
)

const (
	defaultFileName  = "app.log"
	defaultMaxSizeMB = 100
	// maxAgeDays is a hundred years: timberjack counts an age in nanoseconds, which 64 bits hold for 292.
	maxAgeDays = 36500

	dirMode  fs.FileMode = 0o750
	fileMode fs.FileMode = 0o640
)

// logFile is the file that is written now. Timberjack rotates it under the lock of a Write, which takes
// a rename and an open; it compresses and removes old files on a goroutine that Close waits for.
type logFile struct{ *timberjack.Logger }

// openFile opens or makes the file. A file that was last written on an earlier day is rotated first:
// timberjack rotates at midnight only while it runs.
func openFile(c Config, now time.Time) (*logFile, error) {
	if err := os.MkdirAll(c.Dir, dirMode); err != nil {
		return nil, err
	}
	compression := "none"
	if c.Compress {
		compression = "gzip"
	}
	f := &logFile{&timberjack.Logger{
		Filename:    filepath.Join(c.Dir, cmp.Or(c.FileName, defaultFileName)),
		FileMode:    fileMode,
		MaxSize:     cmp.Or(c.MaxSizeMB, defaultMaxSizeMB),
		MaxAge:      min(c.MaxAgeDays, maxAgeDays),
		MaxBackups:  c.MaxBackups,
		Compression: compression,
		RotateAt:    []string{"00:00"},
	}}
	if err := f.begin(now); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// begin opens the file, so that a file that cannot be written is known at once.
func (f *logFile) begin(now time.Time) error {
	if info, err := os.Stat(f.Filename); err == nil && info.Size() > 0 && day(info.ModTime()) < day(now) {
		if err := f.RotateWithReason("time"); err != nil {
			return err
		}
	}
	_, err := f.Write(nil)
	return err
}

// day counts the days since 1970 in UTC.
func day(t time.Time) int64 { return t.Unix() / int64(24*time.Hour/time.Second) }
