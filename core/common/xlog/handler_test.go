package xlog_test

import (
	"context"
	"log" //nolint:depguard // the test checks how SetDefault changes it
	"log/slog"
	"strings"
	"testing"
	"testing/slogtest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestEngine_Handler(t *testing.T) {
	t.Run("conforms to slog", func(t *testing.T) {
		var rec *recorder
		slogtest.Run(t, func(t *testing.T) slog.Handler {
			var e *xlog.Engine
			e, rec = newEngine(t)
			return e.Handler()
		}, func(t *testing.T) map[string]any { return rec.object(t) })
	})

	t.Run("omits a zero time", func(t *testing.T) {
		e, rec := newEngine(t)
		r := slog.NewRecord(time.Time{}, slog.LevelWarn, "m", 0)
		if err := e.WithName("N").Slog().Handler().Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got, want := rec.one(t), `{"level":"warn","name":"N","msg":"m"}`+"\n"; got != want {
			t.Errorf("line = %s, want %s", got, want)
		}
	})

	t.Run("writes groups and attributes", func(t *testing.T) {
		e, rec := newEngine(t)
		base := slog.New(e.Handler()).With("a", 1)
		g := base.WithGroup("g").With("b", 2)
		left, right := g.WithGroup("h").With("c", 3), g.WithGroup("").With("level", 4)
		for _, tc := range []struct {
			name string
			log  *slog.Logger
			want string
		}{
			{name: "base", log: base, want: `"a":1,"x":9}`},
			{name: "group", log: g, want: `"a":1,"g":{"b":2,"x":9}}`},
			{name: "nested", log: left, want: `"a":1,"g":{"b":2,"h":{"c":3,"x":9}}}`},
			{name: "sibling", log: right, want: `"a":1,"g":{"b":2,"level":4,"x":9}}`},
			{
				name: "masked group",
				log:  base.WithGroup("secret").WithGroup("inner"), want: `"a":1,"secret":"***"}`,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				tc.log.InfoContext(t.Context(), "m", "x", 9)
				if line := rec.one(t); !strings.HasSuffix(line, `"msg":"m",`+tc.want+"\n") {
					t.Errorf("line = %s, want %s", line, tc.want)
				}
			})
		}
		g.WithGroup("empty").InfoContext(t.Context(), "m")
		if line := rec.one(t); !strings.HasSuffix(line, `"a":1,"g":{"b":2}}`+"\n") {
			t.Errorf("line with an empty group = %s", line)
		}
	})

	t.Run("writes the time of the record and the request ID", func(t *testing.T) {
		e, rec := newEngine(t)
		r := xctx.NewRequest(t.Context(), nil)
		r.SetID("id")
		at := time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.FixedZone("", 3600))
		record := slog.NewRecord(at, slog.LevelInfo, "m", 0)
		if err := e.Handler().WithGroup("g").Handle(r, record); err != nil {
			t.Fatal(err)
		}
		m := rec.object(t)
		if m["time"] != "1999-12-31T22:59:59.999Z" || m["request_id"] != "id" {
			t.Errorf("line = %v", m)
		}
		record.Time = time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := e.Handler().Handle(r, record); err != nil {
			t.Fatal(err)
		}
		if got := rec.object(t)["time"]; got != "12345-01-01T00:00:00Z" {
			t.Errorf("time = %v", got)
		}
	})

	t.Run("respects the level", func(t *testing.T) {
		e, rec := newEngine(t, func(c *xlog.Config) { c.Level = slog.LevelWarn })
		log := slog.New(e.Handler())
		log.InfoContext(t.Context(), "no")
		log.WarnContext(t.Context(), "yes")
		if got := rec.object(t)["msg"]; got != "yes" {
			t.Errorf("msg = %v", got)
		}
	})
}

func TestSetDefault(t *testing.T) {
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	first, rec1 := newEngine(t)
	second, rec2 := newEngine(t)

	restore1 := xlog.SetDefault(first)
	created := xlog.WithName("FIRST")
	restore2 := xlog.SetDefault(second)
	slog.Info("slog")
	log.Print("log")
	created.Info(t.Context(), "created")
	xlog.WithName("H").Slog().Info("handler")
	if got := rec2.take(); len(got) != 4 || !strings.Contains(got[1], `"msg":"log"`) ||
		!strings.Contains(got[3], `"name":"H"`) {
		t.Errorf("lines of the second engine = %q", got)
	}
	restore2()
	slog.Info("back")
	if got := rec1.object(t)["msg"]; got != "back" || xlog.Default() != first {
		t.Errorf("line of the first engine = %v", got)
	}
	restore1()
	if slog.Default() != before || log.Writer() != writer || log.Flags() != flags {
		t.Error("restore did not restore the default logger")
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("LOG_LEVEL", "error")
	t.Setenv("LOG_DIR", t.TempDir()+"/never")
	defer xlog.SetDefault(nil)()
	e := xlog.Default()
	if e == nil || e != xlog.Default() || e.Enabled(slog.LevelWarn) || !e.Enabled(slog.LevelError) {
		t.Fatalf("Default = %v", e)
	}
	xlog.Info(t.Context(), "not written at this level")
}

func TestNewContext(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "two", "three"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, rec := newEngine(t)
			other, _ := newEngine(t)
			ctx := xlog.NewContext(t.Context(), e)
			// only the base context contains the engine
			request := xctx.NewRequest(context.Background(), ctx)
			xlog.Info(ctx, name)
			xlog.WithName("N").Info(ctx, name)
			other.WithName("N").Info(ctx, name)
			xlog.WithName("").Slog().InfoContext(request, name)
			succeed := func(context.Context) error { return nil }
			xlog.Trace(ctx, name, succeed) //nolint:errcheck // succeed returns nil
			got := rec.take()
			if len(got) != 5 {
				t.Errorf("got %d lines, want 5", len(got))
			}
			for _, line := range got {
				if !strings.Contains(line, name) {
					t.Errorf("line of another test: %s", line)
				}
			}
		})
	}
}
