package xlog_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestEngine_Concurrency(t *testing.T) {
	t.Run("writes whole lines", func(t *testing.T) {
		const goroutines, each = 16, 200
		for form, change := range formats {
			t.Run(form, func(t *testing.T) {
				dir := t.TempDir()
				e, rec := newEngine(t, change, inDir(dir))
				defer xlog.SetDefault(e)() // AddMaskedKeys changes the default engine
				log := e.WithName("N")
				var wg sync.WaitGroup
				for g := range goroutines {
					wg.Go(func() {
						for i := range each {
							log.Info(t.Context(), "m", slog.Int("g", g), slog.Int("i", i),
								slog.String("text", "日本 \u202e"),
								slog.Group("group", slog.Any("v", []int{g, i})))
							e.SetLevel(slog.LevelInfo)
							if i == each/2 && g == 0 {
								xlog.AddMaskedKeys("test_only_later")
							}
						}
					})
				}
				wg.Wait()
				closeEngine(t, e)
				whole := 0
				for line := range strings.Lines(files(t, dir)["app.log"]) {
					m := decode(t, line)
					if m["group"] == nil {
						t.Fatalf("line = %s", line)
					}
					whole++
				}
				writes := rec.take()
				for _, w := range writes {
					if strings.Count(w, "\n") != 1 || !strings.HasSuffix(w, "\n") {
						t.Fatalf("Write(%q), want one line", w)
					}
				}
				if whole != goroutines*each || len(writes) != goroutines*each {
					t.Errorf("%d lines in the file, %d writes; want %d",
						whole, len(writes), goroutines*each)
				}
			})
		}
	})

	t.Run("allows Close during writes", func(t *testing.T) {
		e, _ := newEngine(t, inDir(t.TempDir()))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					e.WithName("").Info(t.Context(), "m")
				}
			})
		}
		wg.Go(func() { closeEngine(t, e) })
		wg.Wait()
	})

	t.Run("writes whole lines to a pipe", func(t *testing.T) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		e, _ := newEngine(t, func(c *xlog.Config) { c.Writer = w; c.Format = "" })
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for range 50 {
					e.WithName("").Info(t.Context(), "m",
						slog.Int("g", g), slog.String("pad", strings.Repeat("y", 9000)))
				}
			})
		}
		go func() {
			wg.Wait()
			_ = w.Close()
		}()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			decode(t, line)
			n++
		}
		if n != 400 {
			t.Errorf("%d lines, want 400", n)
		}
	})

	t.Run("allows LogValue to log", func(t *testing.T) {
		e, rec := newEngine(t)
		log := e.WithName("")
		log.Info(t.Context(), "m",
			slog.Any("k", loggingValuer{log}), slog.Any("err", fmt.Errorf("x")))
		if got := rec.take(); len(got) != 2 || !strings.Contains(got[1], `"k":"done"`) {
			t.Errorf("lines = %q", got)
		}
	})
}

// loggingValuer logs from LogValue. A lock around the encoding would deadlock.
type loggingValuer struct{ log *xlog.LogNamedLogger }

func (c loggingValuer) LogValue() slog.Value {
	c.log.Info(context.Background(), "from LogValue")
	return slog.StringValue("done")
}
