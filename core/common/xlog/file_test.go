package xlog_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// files returns the content of the log files under dir by name. It unpacks compressed
// files and skips lock files.
func files(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	out := map[string]string{}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".lock") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		if strings.HasSuffix(entry.Name(), ".gz") {
			zip, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				tb.Fatal(err)
			}
			if data, err = io.ReadAll(zip); err != nil {
				tb.Fatal(err)
			}
		}
		out[entry.Name()] = string(data)
	}
	return out
}

// inDir writes compressed files to dir with the real clock, as a service does.
func inDir(dir string) func(*xlog.Config) {
	return func(c *xlog.Config) {
		c.Dir, c.Compress, c.MaxSizeMB, c.MaxBackups, c.Clock = dir, true, 1, 30, nil
	}
}

func closeEngine(tb testing.TB, e *xlog.Engine) {
	tb.Helper()
	if err := e.Close(); err != nil {
		tb.Fatal(err)
	}
}

func TestEngine_File(t *testing.T) {
	t.Run("receives each line like the console", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		dir := filepath.Join(t.TempDir(), "a", ".logs")
		e, rec := newEngine(t, console, inDir(dir), func(c *xlog.Config) { c.FileName = "svc.log" })
		e.WithName("N").Info(t.Context(), "m", slog.String("k", "v"))
		if line := rec.one(t); !strings.Contains(line, "[N]") || !strings.Contains(line, "k=v") {
			t.Errorf("console = %q", line)
		}
		closeEngine(t, e)
		if m := decode(t, files(t, dir)["svc.log"]); m["k"] != "v" || m["name"] != "N" {
			t.Errorf("file = %v", m)
		}
	})

	t.Run("causes one warning if the directory is not writable", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		dirs := []string{filepath.Join(file, "logs"), file}
		if runtime.GOOS == "linux" { // even root cannot create files there
			dirs = append(dirs, "/proc/plinth/logs", "/proc/self")
		}
		for _, dir := range dirs {
			e, rec := newEngine(t, inDir(dir), func(c *xlog.Config) { c.Level = slog.LevelError })
			m := rec.object(t)
			if m["level"] != "warn" || m["name"] != "LOGS" || m["error"] == nil {
				t.Errorf("warning = %v", m)
			}
			e.WithName("").Error(t.Context(), "next")
			if got := rec.object(t)["msg"]; got != "next" {
				t.Errorf("msg = %v", got)
			}
			closeEngine(t, e)
		}
	})

	t.Run("causes one warning if it rejects lines", func(t *testing.T) {
		dir := t.TempDir()
		e, rec := newEngine(t, inDir(dir))
		tooLong := slog.String("k", strings.Repeat("x", 1<<20))
		for range 3 {
			e.WithName("").Info(t.Context(), "long", tooLong)
		}
		if got := rec.take(); len(got) != 4 || !strings.Contains(got[1], "not writable") {
			t.Errorf("%d lines on the console, want 3 and one warning", len(got))
		}
		e.WithName("").Info(t.Context(), "short")
		e.WithName("").Info(t.Context(), "long", tooLong)
		if got := rec.take(); len(got) != 3 {
			t.Errorf("%d lines on the console, want 2 and a second warning", len(got))
		}
		closeEngine(t, e)
		if got := files(t, dir)["app.log"]; strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, "short") {
			t.Errorf("file = %q", got)
		}
	})
}

func TestEngine_Close(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	e, rec := newEngine(t, inDir(dir))
	e.WithName("").Info(t.Context(), "before")
	closeEngine(t, e)
	closeEngine(t, e)
	rec.take()
	e.WithName("").Info(t.Context(), "after")
	if got := rec.object(t)["msg"]; got != "after" {
		t.Errorf("console line = %v", got)
	}
	if got := files(t, dir)["app.log"]; !strings.Contains(got, "before") ||
		strings.Contains(got, "after") {
		t.Errorf("file = %q", got)
	}
}

func TestEngine_Rotation(t *testing.T) {
	t.Run("rotates by size and compresses", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		dir := t.TempDir()
		e, rec := newEngine(t, inDir(dir))
		const lines = 40
		for i := range lines {
			e.WithName("").Info(t.Context(), "m",
				slog.Int("i", i), slog.String("pad", strings.Repeat("x", 1<<16)))
		}
		closeEngine(t, e)
		seen := map[int]bool{}
		compressed := 0
		for name, text := range files(t, dir) {
			// -size_1 within the same millisecond
			if strings.Contains(name, "-size") && strings.HasSuffix(name, ".log.gz") {
				compressed++
			} else if name != "app.log" {
				t.Errorf("unexpected file %s", name)
			}
			for line := range strings.Lines(text) {
				i, _ := decode(t, line)["i"].(float64)
				seen[int(i)] = true
			}
		}
		if compressed != 2 || len(seen) != lines || len(rec.take()) != lines {
			t.Errorf("%d rotated files, %d lines; want 2, %d", compressed, len(seen), lines)
		}
	})

	t.Run("rotates at midnight UTC", func(t *testing.T) {
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) { // the fake clock starts at midnight, 2000-01-01 UTC
			e, _ := newEngine(t, inDir(dir))
			e.WithName("").Info(t.Context(), "first day")
			<-time.After(25 * time.Hour)
			e.WithName("").Info(t.Context(), "second day")
			closeEngine(t, e)
		})
		got := files(t, dir)
		old := got["app-2000-01-02T00-00-00.000-time.log.gz"]
		if !strings.Contains(old, "first day") || strings.Contains(old, "second") {
			t.Errorf("files = %v", got)
		}
		if !strings.Contains(got["app.log"], "second day") {
			t.Errorf("app.log = %q", got["app.log"])
		}
	})

	t.Run("rotates a file of an earlier day at startup", func(t *testing.T) {
		dir := t.TempDir()
		name := filepath.Join(dir, "app.log")
		for _, tc := range []struct {
			name string
			age  time.Duration
			want int
		}{
			{name: "continues a file of today", age: 0, want: 1},
			{name: "rotates a file of yesterday", age: 24 * time.Hour, want: 2},
		} {
			if err := os.WriteFile(name, []byte("old\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			at := now.Add(-tc.age)
			if err := os.Chtimes(name, at, at); err != nil {
				t.Fatal(err)
			}
			e, _ := newEngine(t, inDir(dir),
				func(c *xlog.Config) { c.Clock = func() time.Time { return now } })
			e.WithName("").Info(t.Context(), "new")
			closeEngine(t, e)
			got := files(t, dir)
			if len(got) != tc.want || strings.HasPrefix(got["app.log"], "old") != (tc.want == 1) {
				t.Errorf("%s: files = %v", tc.name, got)
			}
		}
	})

	t.Run("removes old files", func(t *testing.T) {
		old := []string{
			"app-2020-01-01T00-00-00.000-time.log.gz", "app-2020-01-02T00-00-00.000-time.log.gz",
			"app-2020-01-03T00-00-00.000-size.log.gz",
		}
		for _, tc := range []struct {
			name   string
			change func(*xlog.Config)
			want   []string
		}{
			{
				name: "by number", change: func(c *xlog.Config) { c.MaxBackups = 2 },
				want: []string{old[1], old[2], "app.log"},
			},
			{
				name: "by age", change: func(c *xlog.Config) { c.MaxAgeDays = 7 },
				want: []string{"app.log"},
			},
			{
				name:   "a very long age",
				change: func(c *xlog.Config) { c.MaxAgeDays = math.MaxInt32 },
				want:   []string{old[0], old[1], old[2], "app.log"},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				dir := t.TempDir()
				for _, name := range old {
					file, err := os.Create(filepath.Join(dir, name))
					if err != nil {
						t.Fatal(err)
					}
					zip := gzip.NewWriter(file)
					if err := zip.Close(); err != nil {
						t.Fatal(err)
					}
					if err := file.Close(); err != nil {
						t.Fatal(err)
					}
				}
				e, _ := newEngine(t, inDir(dir), tc.change)
				closeEngine(t, e)
				var got []string
				for name := range files(t, dir) {
					got = append(got, name)
				}
				slices.Sort(got)
				if !slices.Equal(got, tc.want) {
					t.Errorf("files = %v, want %v", got, tc.want)
				}
			})
		}
	})
}
