//go:build unix

package xlog_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe with the name of the newest rotated file blocks the compression: it opens
// that file first, and waits until the pipe has a writer.
func TestEngine_Rotation_BlockedCompression(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "app-2099-01-01T00-00-00.000-time.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("named pipes are not supported: %v", err)
	}
	e, _ := newEngine(t, inDir(dir))
	for i := range 40 { // two rotations
		e.WithName("").Info(t.Context(), "m",
			slog.Int("i", i), slog.String("pad", strings.Repeat("x", 1<<16)))
	}
	if rotated, err := filepath.Glob(filepath.Join(dir, "app-*-size*.log")); err != nil ||
		len(rotated) != 2 {
		t.Errorf("rotated files = %v, %v; want two during a blocked compression", rotated, err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	if compressed, err := filepath.Glob(filepath.Join(dir, "app-*-size*.log.gz")); err != nil ||
		len(compressed) != 2 {
		t.Errorf("compressed files after Close = %v, %v; want two", compressed, err)
	}
}
