package xlog_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestLogNamedLogger_Log(t *testing.T) {
	t.Run("writes the keys in order", func(t *testing.T) {
		e, rec := newEngine(t)
		r := xctx.NewRequest(t.Context(), nil)
		r.SetID("req-1")
		e.WithName(xlog.NamedSERV, "user").Info(r, "hello <b>",
			slog.Int("n", 1), slog.String("s", "x"))
		want := `{"time":"2025-03-04T12:00:00.123Z","level":"info","name":"SERV.user","msg":"hello <b>","request_id":"req-1","n":1,"s":"x"}` + "\n"
		if got := rec.one(t); got != want {
			t.Errorf("line =\n%s, want\n%s", got, want)
		}
	})

	t.Run("encodes every kind of value", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			attr slog.Attr
			want string
		}{
			{name: "string", attr: slog.String("k", `a"b`), want: `{"k":"a\"b"}`},
			{name: "int", attr: slog.Int("k", -1), want: `{"k":-1}`},
			{name: "uint", attr: slog.Uint64("k", 1<<63), want: `{"k":9223372036854775808}`},
			{name: "float", attr: slog.Float64("k", 1.5), want: `{"k":1.5}`},
			{name: "bool", attr: slog.Bool("k", true), want: `{"k":true}`},
			{
				name: "duration in milliseconds",
				attr: slog.Duration("k", 1234567*time.Nanosecond), want: `{"k":1.234567}`,
			},
			{name: "whole duration", attr: slog.Duration("k", 2*time.Second), want: `{"k":2000}`},
			{
				name: "short duration",
				attr: slog.Duration("k", 50*time.Microsecond), want: `{"k":0.05}`,
			},
			{
				name: "negative duration",
				attr: slog.Duration("k", -1500*time.Microsecond), want: `{"k":-1.5}`,
			},
			{
				name: "time", attr: slog.Time("k", noon),
				want: `{"k":"2025-03-04T12:00:00.123456789Z"}`,
			},
			{name: "nil", attr: slog.Any("k", nil), want: `{"k":null}`},
			{name: "list", attr: slog.Any("k", []int{1, 2}), want: `{"k":[1,2]}`},
			{name: "struct", attr: slog.Any("k", struct {
				A int `json:"a"`
			}{1}), want: `{"k":{"a":1}}`},
			{
				name: "group",
				attr: slog.Group("k", slog.Int("a", 1), slog.Group("b", slog.Int("c", 2))),
				want: `{"k":{"a":1,"b":{"c":2}}}`,
			},
			{name: "group without a key", attr: slog.Group("", slog.Int("a", 1)), want: `{"a":1}`},
			{name: "empty group", attr: slog.Group("k", slog.Group("b")), want: `{}`},
			{name: "empty attribute", attr: slog.Attr{}, want: `{}`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t)
				e.WithName("").Info(t.Context(), "m", tc.attr)
				line := strings.TrimSuffix(rec.one(t), "\n")
				_, attrs, _ := strings.Cut(line, `"msg":"m"`)
				if got := "{" + strings.TrimPrefix(attrs, ","); got != tc.want {
					t.Errorf("attributes = %s, want %s", got, tc.want)
				}
			})
		}
	})

	t.Run("accepts a nil context", func(t *testing.T) {
		e, rec := newEngine(t)
		log := e.WithName(xlog.NamedMAIN)
		var nilCtx context.Context
		var nilRequest *xctx.Request
		for _, ctx := range []context.Context{nilCtx, nilRequest} {
			log.Info(ctx, "m")
			log.SugarInfo(ctx, "m", "k", 1)
			log.Access(ctx, &xlog.AccessLine{Status: 200})
			if !log.Enabled(ctx, slog.LevelInfo) {
				t.Error("Enabled = false")
			}
		}
		if err := log.Trace(nilCtx, "call",
			func(ctx context.Context) error { return ctx.Err() }); err != nil {
			t.Error(err)
		}
		log.Info(xlog.NewContext(nilCtx, e), "m")
		if got := len(rec.take()); got != 8 {
			t.Errorf("%d lines, want 8", got)
		}
	})

	t.Run("reads the request ID from the context", func(t *testing.T) {
		r := xctx.NewRequest(t.Context(), nil)
		r.SetID("own")
		derived, cancel := context.WithCancel(r)
		defer cancel()
		for _, tc := range []struct {
			name string
			ctx  context.Context
			want any
		}{
			{name: "request", ctx: r, want: "own"},
			{name: "derived context", ctx: derived, want: "own"},
			{
				name: "value of RequestKey",
				ctx:  context.WithValue(t.Context(), xctx.RequestKey, "value"), want: "value",
			},
			{
				name: "request without an ID derived from a request with an ID",
				ctx:  xctx.NewRequest(r, nil), want: "own",
			},
			{name: "no request", ctx: t.Context(), want: nil},
		} {
			t.Run(tc.name, func(t *testing.T) {
				e, rec := newEngine(t)
				e.WithName("").Info(tc.ctx, "m")
				if got := rec.object(t)["request_id"]; got != tc.want {
					t.Errorf("request_id = %v, want %v", got, tc.want)
				}
			})
		}
	})

	t.Run("spells other levels relative to the next lower one", func(t *testing.T) {
		for _, tc := range []struct {
			level slog.Level
			want  string
		}{
			{level: -8, want: "debug-4"},
			{level: 1, want: "info+1"},
			{level: 3, want: "notice+1"},
			{level: 20, want: "panic+8"},
		} {
			e, rec := newEngine(t)
			e.SetLevel(-100)
			e.WithName("").Log(t.Context(), tc.level, "m")
			if got := rec.object(t)["level"]; got != tc.want {
				t.Errorf("level %d = %v, want %s", tc.level, got, tc.want)
			}
		}
	})

	t.Run("omits the name of a nil logger", func(t *testing.T) {
		e, rec := newEngine(t)
		var log *xlog.LogNamedLogger
		log.Info(xlog.NewContext(t.Context(), e), "m")
		if _, has := rec.object(t)["name"]; has {
			t.Error("the line of a nil logger has a name")
		}
		log.Slog().InfoContext(xlog.NewContext(t.Context(), e), "m")
		rec.one(t)
	})

	t.Run("renames attributes that repeat a key of the line", func(t *testing.T) {
		e, rec := newEngine(t)
		r := xctx.NewRequest(t.Context(), nil)
		r.SetID("id")
		e.WithName("N").Info(r, "m",
			slog.String("level", "error"), slog.String("msg", "x"), slog.String("name", "bob"),
			slog.String("time", "never"), slog.String("request_id", "other"),
			slog.Group("g", slog.String("level", "fine")))
		want := map[string]any{
			"time":            "2025-03-04T12:00:00.123Z",
			"level":           "info",
			"name":            "N",
			"msg":             "m",
			"request_id":      "id",
			"attr_level":      "error",
			"attr_msg":        "x",
			"attr_name":       "bob",
			"attr_time":       "never",
			"attr_request_id": "other",
			"g":               map[string]any{"level": "fine"},
		}
		line := rec.one(t)
		if got := compact(t, decode(t, line)); got != compact(t, want) ||
			strings.Count(line, `"level"`) != 2 {
			t.Errorf("line = %s, want %s", line, compact(t, want))
		}
		e.WithName("").Info(t.Context(), "m",
			slog.String("name", "bob"), slog.String("request_id", "mine"))
		if m := rec.object(t); m["name"] != "bob" || m["request_id"] != "mine" {
			t.Errorf("line = %v, want the keys unchanged", m)
		}
	})
}

func TestLogNamedLogger_Levels(t *testing.T) {
	e, rec := newEngine(t)
	ctx := xlog.NewContext(t.Context(), e)
	log := xlog.WithName(xlog.NamedMAIN)
	for _, tc := range []struct {
		name  string
		plain func(context.Context, string, ...slog.Attr)
		sugar func(context.Context, string, ...any)
		want  string
	}{
		{name: "debug", plain: log.Debug, sugar: log.SugarDebug, want: "debug"},
		{name: "info", plain: log.Info, sugar: log.SugarInfo, want: "info"},
		{name: "notice", plain: log.Notice, sugar: log.SugarNotice, want: "notice"},
		{name: "warn", plain: log.Warn, sugar: log.SugarWarn, want: "warn"},
		{name: "error", plain: log.Error, sugar: log.SugarError, want: "error"},
		{name: "package debug", plain: xlog.Debug, sugar: xlog.SugarDebug, want: "debug"},
		{name: "package info", plain: xlog.Info, sugar: xlog.SugarInfo, want: "info"},
		{name: "package notice", plain: xlog.Notice, sugar: xlog.SugarNotice, want: "notice"},
		{name: "package warn", plain: xlog.Warn, sugar: xlog.SugarWarn, want: "warn"},
		{name: "package error", plain: xlog.Error, sugar: xlog.SugarError, want: "error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.plain(ctx, "m", slog.Int("k", 1))
			plain := rec.one(t)
			tc.sugar(ctx, "m", "k", 1)
			if sugar := rec.one(t); sugar != plain {
				t.Errorf("sugar = %s, plain = %s", sugar, plain)
			}
			if got := decode(t, plain)["level"]; got != tc.want {
				t.Errorf("level = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestLogNamedLogger_SugarInfo(t *testing.T) {
	e, rec := newEngine(t)
	e.WithName("").SugarInfo(t.Context(), "m", "a", 1, slog.Bool("b", true), "unpaired")
	m := rec.object(t)
	if m["a"] != 1.0 || m["b"] != true || m["!BADKEY"] != "unpaired" {
		t.Errorf("line = %v", m)
	}
}

func TestLogNamedLogger_Panic(t *testing.T) {
	e, rec := newEngine(t)
	ctx := xlog.NewContext(t.Context(), e)
	log := xlog.WithName(xlog.NamedMAIN)
	for name, f := range map[string]func(){
		"method":        func() { log.Panic(ctx, "failed", slog.Int("k", 1)) },
		"sugar":         func() { log.SugarPanic(ctx, "failed", "k", 1) },
		"package":       func() { xlog.Panic(ctx, "failed", slog.Int("k", 1)) },
		"package sugar": func() { xlog.SugarPanic(ctx, "failed", "k", 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := recover(); got != "failed" {
					t.Errorf("panic value = %v, want the message", got)
				}
				if m := rec.object(t); m["level"] != "panic" || m["k"] != 1.0 {
					t.Errorf("line = %v", m)
				}
			}()
			f()
		})
	}
}

func TestEngine_SetLevel(t *testing.T) {
	e, rec := newEngine(t)
	log := e.WithName("")
	e.SetLevel(xlog.LevelNotice)
	if log.Enabled(t.Context(), slog.LevelInfo) || !log.Enabled(t.Context(), xlog.LevelNotice) {
		t.Error("Enabled does not use the new level")
	}
	log.Info(t.Context(), "below")
	log.SugarInfo(t.Context(), "below")
	log.Access(t.Context(), &xlog.AccessLine{Status: 200})
	log.Notice(t.Context(), "on")
	if got := rec.object(t)["msg"]; got != "on" {
		t.Errorf("msg = %v, want on", got)
	}
}

func TestConfigFromEnv_Level(t *testing.T) {
	for name, want := range map[string]slog.Level{
		"debug":  slog.LevelDebug,
		"info":   slog.LevelInfo,
		"notice": xlog.LevelNotice,
		"warn":   slog.LevelWarn,
		"error":  slog.LevelError,
	} {
		t.Setenv("LOG_LEVEL", name)
		if got, err := xlog.ConfigFromEnv(); err != nil || got.Level != want {
			t.Errorf("LOG_LEVEL=%s: level %v, %v; want %v", name, got.Level, err, want)
		}
	}
	t.Setenv("LOG_LEVEL", "verbose")
	if _, err := xlog.ConfigFromEnv(); err == nil || !strings.Contains(err.Error(), `"verbose"`) {
		t.Errorf("LOG_LEVEL=verbose: %v, want an error that contains it", err)
	}
}
