//go:build !race

package xlog_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestLogNamedLogger_Allocations(t *testing.T) {
	t.Run("is zero for common lines", func(t *testing.T) {
		ctx := requestContext(t)
		e := benchEngine(t)
		log := e.WithName(xlog.NamedCONT, "user")
		restore := xlog.SetDefault(e)
		defer restore()
		sl := slog.New(e.Handler())
		named := log.Slog().With(slog.String("with", "x")).WithGroup("g")
		fail := errors.New("boom")
		groups := []any{slog.Int("a", 1), slog.String("b", "x")}
		group := slog.Group("g", groups...)
		nonASCII := "日本語のテキスト"
		long, quotes := strings.Repeat("a \"long\" message ", 100), strings.Repeat(`"`, 120)
		for _, tc := range []struct {
			name string
			call func()
		}{
			{name: "five attributes and a request ID", call: func() { logFive(ctx, log) }},
			{
				name: "package function",
				call: func() { xlog.Info(ctx, benchMsg, slog.Int("status", 200)) },
			},
			{name: "no context", call: func() {
				log.Info(context.Background(), benchMsg, slog.String("ID", "x"))
			}},
			{name: "error", call: func() { log.Warn(ctx, benchMsg, slog.Any("error", fail)) }},
			{name: "time, bool, float", call: func() {
				log.Info(ctx, benchMsg, slog.Time("t", noon), slog.Bool("b", true),
					slog.Float64("f", 1.5), slog.Uint64("u", 1))
			}},
			{name: "masked", call: func() {
				log.Info(ctx, benchMsg, slog.String("password", "x"),
					slog.Any("k", xlog.Secret("x")))
			}},
			{name: "key that resembles a secret", call: func() {
				log.Info(ctx, benchMsg, slog.Int("connections", 1),
					slog.String("content_type", "x"), slog.String("passenger", "x"))
			}},
			{name: "group", call: func() { log.Info(ctx, benchMsg, group) }},
			{
				name: "text beyond ASCII",
				call: func() { log.Info(ctx, nonASCII, slog.String("k", nonASCII)) },
			},
			{name: "long message", call: func() { xlog.Info(ctx, long) }},
			{name: "message of quotes", call: func() { xlog.Notice(context.Background(), quotes) }},
			{name: "slog", call: func() {
				sl.LogAttrs(ctx, slog.LevelInfo, benchMsg, slog.String("method", benchMethod),
					slog.String("path", benchPath), slog.Int("status", benchStatus),
					slog.Int64("bytes", benchBytes), slog.Duration("duration", benchDuration))
			}},
			{
				name: "slog with groups",
				call: func() { named.LogAttrs(ctx, slog.LevelInfo, benchMsg, slog.Int("k", 1)) },
			},
			{name: "access", call: func() {
				log.Access(ctx, &xlog.AccessLine{
					Method: benchMethod, Path: benchPath, Route: "/api/v1/user/:id",
					Status: 500, Bytes: benchBytes, Start: noon,
					ClientIP: "192.0.2.1", UserAgent: "curl/8.5.0",
					ErrorCode: 50000, ErrorMessage: "failed",
				})
			}},
			{name: "call", call: func() {
				log.Call(ctx, &xlog.CallLine{
					Method: "/pkg.Service/Method", Stream: "bidi", Status: "NOT_FOUND",
					Level: slog.LevelWarn, Start: noon,
					ClientIP: netip.AddrFrom4([4]byte{192, 0, 2, 1}), Source: "shop",
					Received: 3, Sent: 4, ErrorCode: 40400, ErrorMessage: "failed",
				})
			}},
			{name: "disabled", call: func() {
				log.Debug(ctx, benchMsg, slog.Int("status", 200), slog.String("k", "v"))
			}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if got := testing.AllocsPerRun(1000, tc.call); got != 0 {
					t.Errorf("allocations = %v, want 0", got)
				}
			})
		}
	})

	t.Run("is zero for a pipe", func(t *testing.T) {
		e, r, _ := pipeEngine(t)
		go func() { _, _ = io.Copy(io.Discard, r) }()
		ctx, log := requestContext(t), e.WithName("N")
		if got := testing.AllocsPerRun(1000, func() { logFive(ctx, log) }); got != 0 {
			t.Errorf("allocations = %v, want 0", got)
		}
	})

	t.Run("does not grow for keys that resemble secrets", func(t *testing.T) {
		v := struct {
			Connections int    `json:"connections"`
			ContentType string `json:"content_type"`
			Passenger   string `json:"passenger"`
		}{1, "text/html", "bob"}
		names := struct {
			A int    `json:"a"`
			B string `json:"b"`
			C string `json:"c"`
		}{1, "text/html", "bob"}
		e, _ := newEngine(t, func(c *xlog.Config) { c.Writer = io.Discard })
		log := e.WithName("")
		count := func(v any) float64 {
			return testing.AllocsPerRun(100,
				func() { log.Info(t.Context(), "m", slog.Any("k", v)) })
		}
		if got, want := count(&v), count(&names); got > want {
			t.Errorf("struct with similar keys: %v allocations, want at most %v", got, want)
		}
	})
}
