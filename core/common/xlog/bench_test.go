package xlog_test

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

// The line of every benchmark: five fields and the request id.
const (
	benchMsg    = "request served"
	benchMethod = "GET"
	benchPath   = "/api/v1/user/42"
	benchStatus = 200
	benchBytes  = 1234
	benchTook   = 1234567 * time.Nanosecond
)

// requestContext returns the context of a request that has an id.
func requestContext(tb testing.TB) context.Context {
	tb.Helper()
	r := xCtx.NewRequest(tb.Context(), nil)
	r.GenerateID()
	return r
}

func benchEngine(tb testing.TB) *xLog.Engine {
	tb.Helper()
	e, err := xLog.New(xLog.Config{Writer: io.Discard, Format: xLog.FormatJSON})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func logFive(ctx context.Context, log *xLog.LogNamedLogger) {
	log.Info(ctx, benchMsg, slog.String("method", benchMethod), slog.String("path", benchPath),
		slog.Int("status", benchStatus), slog.Int64("bytes", benchBytes), slog.Duration("duration", benchTook))
}

// side runs the two in turn, because the machine's speed changes, and prints the median ratio.
func side(b *testing.B, base, ours func()) {
	b.Helper()
	const rounds = 500
	run := func(f func()) float64 {
		start := time.Now()
		for range rounds {
			f()
		}
		return float64(time.Since(start).Nanoseconds()) / rounds
	}
	var baseNS, oursNS, ratios []float64
	for b.Loop() {
		x, y := run(base), run(ours)
		baseNS, oursNS, ratios = append(baseNS, x), append(oursNS, y), append(ratios, y/x)
	}
	for unit, list := range map[string][]float64{"zerolog-ns": baseNS, "xlog-ns": oursNS, "ratio": ratios} {
		slices.Sort(list)
		b.ReportMetric(list[len(list)/2], unit)
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLine writes the same line with zerolog and in the ways of this package. Budgets: at most 1.05
// of zerolog, as a slog.Handler 2.0.
func BenchmarkLine(b *testing.B) {
	ctx := requestContext(b)
	id := xCtx.RequestFrom(ctx).ID()
	e := benchEngine(b)
	plain, named, handler := e.WithName(""), e.WithName(xLog.NamedCONT), slog.New(e.Handler())
	zero := zerolog.New(io.Discard).With().Timestamp().Logger()
	fields := func() {
		zero.Info().Str("request_id", id).Str("method", benchMethod).Str("path", benchPath).
			Int("status", benchStatus).Int64("bytes", benchBytes).Dur("duration", benchTook).Msg(benchMsg)
	}
	b.Run("own", func(b *testing.B) { side(b, fields, func() { logFive(ctx, plain) }) })
	b.Run("named", func(b *testing.B) { side(b, fields, func() { logFive(ctx, named) }) })
	b.Run("handler", func(b *testing.B) {
		side(b, fields, func() {
			handler.LogAttrs(ctx, slog.LevelInfo, benchMsg, slog.String("method", benchMethod), slog.String("path", benchPath),
				slog.Int("status", benchStatus), slog.Int64("bytes", benchBytes), slog.Duration("duration", benchTook))
		})
	})
	b.Run("texts", func(b *testing.B) {
		side(b, func() {
			zero.Info().Str("request_id", id).Str("method", benchMethod).Str("path", benchPath).
				Str("user", "bob").Int("status", benchStatus).Bool("cached", true).Msg(benchMsg)
		}, func() {
			plain.Info(ctx, benchMsg, slog.String("method", benchMethod), slog.String("path", benchPath),
				slog.String("user", "bob"), slog.Int("status", benchStatus), slog.Bool("cached", true))
		})
	})
	b.Run("access", func(b *testing.B) {
		side(b, func() {
			zero.Info().Str("name", xLog.NamedHTTP).Str("request_id", id).Str("method", benchMethod).Str("path", benchPath).
				Str("route", "/api/v1/user/:id").Int("status", benchStatus).Int64("bytes", benchBytes).
				Dur("duration_ms", benchTook).Str("client_ip", "192.0.2.1").Str("user_agent", "curl/8.5.0").Msg("request")
		}, func() {
			named.Access(ctx, &xLog.AccessLine{
				Method: benchMethod, Path: benchPath, Route: "/api/v1/user/:id", Status: benchStatus, Bytes: benchBytes,
				Duration: benchTook, ClientIP: "192.0.2.1", UserAgent: "curl/8.5.0",
			})
		})
	})
}

// BenchmarkDisabled is what a line below the level costs; with attributes, most of it is the caller who
// builds them.
func BenchmarkDisabled(b *testing.B) {
	ctx, log := requestContext(b), benchEngine(b).WithName(xLog.NamedCONT)
	b.Run("message", func(b *testing.B) {
		for range b.N {
			log.Debug(ctx, benchMsg)
		}
	})
	b.Run("five fields", func(b *testing.B) {
		for range b.N {
			log.Debug(ctx, benchMsg, slog.String("method", benchMethod), slog.String("path", benchPath),
				slog.Int("status", benchStatus), slog.Int64("bytes", benchBytes), slog.Duration("duration", benchTook))
		}
	})
}
