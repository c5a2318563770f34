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

// A named pipe that looks like the newest rotated file, with which the compression
// begins, holds it in its open until somebody writes.
func TestRotationDoesNotWaitForACompression(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "app-2099-01-01T00-00-00.000-time.log")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	e, _ := newEngine(t, inDir(dir))
	for i := range 40 { // two rotations
		e.WithName("").Info(t.Context(), "m",
			slog.Int("i", i), slog.String("pad", strings.Repeat("x", 1<<16)))
	}
	if rotated, err := filepath.Glob(filepath.Join(dir, "app-*-size*.log")); err != nil ||
		len(rotated) != 2 {
		t.Errorf("rotated while a compression hangs: %v, %v; want two files", rotated, err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	closeEngine(t, e)
	if packed, err := filepath.Glob(filepath.Join(dir, "app-*-size*.log.gz")); err != nil ||
		len(packed) != 2 {
		t.Errorf("compressed by the end of Close: %v, %v; want two files", packed, err)
	}
}
