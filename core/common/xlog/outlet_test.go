package xlog_test

import (
	"bufio"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

// pipeEngine returns an engine that writes to a pipe, and both files of the pipe.
func pipeEngine(t *testing.T) (e *xlog.Engine, r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	if e, err = xlog.New(xlog.Config{Writer: w, Format: xlog.FormatJSON}); err != nil {
		t.Fatal(err)
	}
	return e, r, w
}

func TestEngine_Output(t *testing.T) {
	t.Run("drops lines while the output is blocked", func(t *testing.T) {
		if testing.Short() {
			t.Skip("slow: waits for timeouts")
		}
		const goroutines, each = 8, 2000
		e, r, w := pipeEngine(t)
		log, pad := e.WithName("N"), strings.Repeat("x", 200)
		start := time.Now()
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := range each {
					log.Info(t.Context(), "m",
						slog.Int("g", g), slog.Int("i", i), slog.String("pad", pad))
				}
			})
		}
		wg.Wait()
		if err := e.Close(); err != nil { // Close waits for queued lines, but not indefinitely
			t.Error(err)
		}
		if elapsed := time.Since(start); elapsed > 20*time.Second {
			t.Errorf("%d lines took %s, want at most 20s", goroutines*each, elapsed)
		}

		lines, dropped := 0, 0
		var order [goroutines]int
		for scan := bufio.NewScanner(r); lines+dropped < goroutines*each && scan.Scan(); {
			m := decode(t, scan.Text())
			if m["msg"] == "log lines dropped: output blocked" {
				dropped += int(m["count"].(float64))
				continue
			}
			lines++
			g, i := int(m["g"].(float64)), int(m["i"].(float64))
			if i < order[g] {
				t.Errorf("line %d of goroutine %d is written after line %d", i, g, order[g]-1)
			}
			order[g] = i + 1
		}
		if dropped == 0 || lines < 1<<20/400 {
			t.Errorf("%d lines written and %d dropped, want a megabyte of lines and some dropped",
				lines, dropped)
		}
		log.Info(t.Context(), "after")
		if text, err := bufio.NewReader(r).ReadString('\n'); err != nil ||
			decode(t, text)["msg"] != "after" {
			t.Errorf("line = %q, %v; want a line after the blocked output", text, err)
		}
		_ = w.Close()
	})

	t.Run("writes every line to a slow output", func(t *testing.T) {
		e, r, w := pipeEngine(t)
		const lines = 600 // more than the buffer of a pipe
		go func() {
			for i := range lines {
				e.WithName("").Info(t.Context(), "m",
					slog.Int("i", i), slog.String("pad", strings.Repeat("x", 200)))
			}
			_ = w.Close()
		}()
		want := 0
		for scan := bufio.NewScanner(r); scan.Scan(); want++ {
			if got := decode(t, scan.Text())["i"]; got != float64(want) {
				t.Fatalf("line %v, want %d", got, want)
			}
			if want%100 == 0 {
				time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the reader is slow
			}
		}
		if want != lines {
			t.Errorf("%d lines, want all %d", want, lines)
		}
	})

	t.Run("does not wait in a synctest bubble", func(t *testing.T) {
		e, r, w := pipeEngine(t)
		go func() {
			for range 20 {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					e.WithName("").Info(t.Context(), "in the bubble")
					if elapsed := time.Since(start); elapsed != 0 {
						t.Errorf("Info took %s of fake time, want 0", elapsed)
					}
				})
				e.WithName("").Info(t.Context(), "outside")
			}
			_ = w.Close()
		}()
		n := 0
		for scan := bufio.NewScanner(r); scan.Scan(); n++ {
		}
		if n != 40 {
			t.Errorf("%d lines, want 40", n)
		}
	})
}
