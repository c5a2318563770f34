package xlog_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// writerEnv makes the test binary a process that writes log files to the given directory.
const writerEnv xenv.EnvKey = "XLOG_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir, ok := xenv.GetEnv(writerEnv); ok {
		os.Exit(runWriter(dir))
	}
	os.Exit(m.Run())
}

// runWriter creates an engine and prints "ready". It then reads a number from standard
// input, writes as many lines and returns the exit code.
func runWriter(dir string) int {
	c := xlog.Config{Writer: io.Discard}
	inDir(dir)(&c)
	e, err := xlog.New(c)
	if err != nil {
		return 2
	}
	_, _ = os.Stdout.WriteString("ready\n")
	text, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return 3
	}
	writeLines(e, "p"+strconv.Itoa(os.Getpid()), n)
	if e.Close() != nil {
		return 4
	}
	return 0
}

// writeLines writes lines of 64 KB; 16 lines fill a file.
func writeLines(e *xlog.Engine, name string, n int) {
	for i := range n {
		e.WithName(name).Info(context.Background(), "m",
			slog.Int("i", i), slog.String("pad", strings.Repeat("x", 1<<16)))
	}
}

type writer struct {
	cmd *exec.Cmd
	in  io.Writer
}

func startWriter(t *testing.T, dir string) *writer {
	t.Helper()
	w := &writer{cmd: exec.CommandContext(t.Context(), os.Args[0])}
	w.cmd.Env = append(os.Environ(), writerEnv.String()+"="+dir)
	in, err1 := w.cmd.StdinPipe()
	out, err2 := w.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, w.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("process printed %q, %v; want ready", line, err)
	}
	w.in = in
	return w
}

// lines counts the lines under dir by logger name, and decodes each.
func lines(t *testing.T, dir string) map[string]int {
	t.Helper()
	got := map[string]int{}
	for _, text := range files(t, dir) {
		for line := range strings.Lines(text) {
			name, _ := decode(t, line)["name"].(string)
			got[name]++
		}
	}
	delete(got, "LOGS") // the notice about the file name
	return got
}

func TestEngine_SharedDirectory(t *testing.T) {
	t.Run("loses no line of several processes", func(t *testing.T) {
		if testing.Short() {
			t.Skip("starts processes")
		}
		const processes, each = 3, 50
		dir := t.TempDir()
		var writers []*writer
		for range processes {
			writers = append(writers, startWriter(t, dir))
		}
		for _, w := range writers {
			if _, err := fmt.Fprintln(w.in, each); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range writers {
			if err := w.cmd.Wait(); err != nil {
				t.Error(err)
			}
		}
		got := lines(t, dir)
		for _, w := range writers {
			if name := "p" + strconv.Itoa(w.cmd.Process.Pid); got[name] != each {
				t.Errorf("lines of %s = %d, want %d", name, got[name], each)
			}
		}
		if len(got) != processes {
			t.Errorf("lines of %d processes, want %d", len(got), processes)
		}
	})

	t.Run("continues the file of a killed process", func(t *testing.T) {
		dir := t.TempDir()
		w := startWriter(t, dir)
		second, _ := newEngine(t, inDir(dir))
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = w.cmd.Wait()
		third, _ := newEngine(t, inDir(dir))
		second.WithName("").Info(t.Context(), "second")
		third.WithName("").Info(t.Context(), "third")
		closeEngine(t, second)
		closeEngine(t, third)
		got := files(t, dir)
		if len(got) != 2 || !strings.Contains(got["app.log"], "third") ||
			!strings.Contains(got["app_2.log"], "second") {
			t.Errorf("files = %v", got)
		}
	})

	t.Run("reports the file of a second engine", func(t *testing.T) {
		dir := t.TempDir()
		first, rec := newEngine(t, inDir(dir))
		if got := rec.take(); len(got) != 0 {
			t.Errorf("first engine wrote %q, want no line", got)
		}
		second, rec := newEngine(t, inDir(dir))
		if m := rec.object(t); m["level"] != "notice" || m["name"] != "LOGS" ||
			m["file"] != filepath.Join(dir, "app_2.log") {
			t.Errorf("line = %v", m)
		}
		closeEngine(t, first)
		closeEngine(t, second)
	})

	t.Run("rotates the files of each engine separately", func(t *testing.T) {
		if testing.Short() {
			t.Skip("writes many files")
		}
		for _, name := range []string{"app.log", "svc", ".log", "a.b-c.log"} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				var engines []*xlog.Engine
				for range 3 {
					e, _ := newEngine(t, inDir(dir),
						func(c *xlog.Config) { c.FileName, c.MaxBackups = name, 1 })
					engines = append(engines, e)
				}
				for i, e := range engines {
					writeLines(e, strconv.Itoa(i), 40) // two rotations
				}
				for _, e := range engines {
					closeEngine(t, e)
				}
				suffix := regexp.MustCompile(`-\d{4}-.*-size(_\d)?`)
				count := map[string]int{}
				for file := range files(t, dir) {
					count[strings.TrimSuffix(suffix.ReplaceAllString(file, ""), ".gz")]++
				}
				ext := filepath.Ext(name)
				base := strings.TrimSuffix(name, ext)
				for _, want := range []string{name, base + "_2" + ext, base + "_3" + ext} {
					if count[want] != 2 {
						t.Errorf("files = %v, want %s and one rotated file of it", count, want)
					}
				}
			})
		}
	})

	t.Run("causes one warning without file locks", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "app.log.lock"), 0o700); err != nil {
			t.Fatal(err)
		}
		e, rec := newEngine(t, inDir(dir))
		if m := rec.object(t); m["level"] != "warn" || m["name"] != "LOGS" || m["error"] == nil {
			t.Errorf("warning = %v", m)
		}
		e.WithName("").Info(t.Context(), "next")
		if got := rec.object(t)["msg"]; got != "next" {
			t.Errorf("msg = %v", got)
		}
	})
}
