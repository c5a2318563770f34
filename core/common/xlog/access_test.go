package xlog_test

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func TestLogNamedLogger_Access(t *testing.T) {
	// Access lines are encoded without zerolog.
	t.Run("matches a line encoded by zerolog", func(t *testing.T) {
		for _, text := range []string{
			"/user/7", "", `/"\`, "/\x00\x1f\x7f\b\f\n\r\t", "/<a>&", "/汉字", "/\xff", "/\xe6\xb1",
			"/\u2028\u202e\u009b", "/long enough for a step of eight bytes \x1b[31m",
		} {
			e, rec := newEngine(t)
			log := e.WithName(xlog.NamedHTTP, text)
			request := xctx.NewRequest(t.Context(), nil)
			request.SetID(text)
			for _, ctx := range []context.Context{request, t.Context()} {
				log.Access(ctx, &xlog.AccessLine{
					Method: text, Path: text, Route: text, Status: 404, Bytes: -1,
					Start: noon.Add(-1_234_567), ClientIP: text, UserAgent: text,
					ErrorCode: 40400, ErrorMessage: text,
				})
				got := rec.one(t)
				attrs := []slog.Attr{
					slog.String("method", text), slog.String("path", text),
					slog.String("route", text), slog.Int("status", 404), slog.Int("bytes", -1),
					slog.Duration("duration_ms", 1_234_000),
					slog.String("client_ip", text), slog.Int("error_code", 40400),
					slog.String("error_message", text), slog.String("user_agent", text),
				}
				if text == "" {
					attrs = []slog.Attr{attrs[0], attrs[1], attrs[3], attrs[4], attrs[5], attrs[7]}
				}
				log.Info(ctx, "request", attrs...)
				if want := rec.one(t); got != want {
					t.Errorf("line\n%swant\n%s", got, want)
				}
			}
		}
	})

	t.Run("writes the time at which the request finished", func(t *testing.T) {
		for _, elapsed := range []time.Duration{
			0, 20 * time.Millisecond, 999 * time.Millisecond, time.Second, time.Hour,
		} {
			synctest.Test(t, func(t *testing.T) {
				e, rec := newEngine(t, func(c *xlog.Config) { c.Clock = nil })
				start := time.Now()
				<-time.After(elapsed)
				e.WithName(xlog.NamedHTTP).Access(t.Context(),
					&xlog.AccessLine{Status: 200, Start: start})
				got := rec.object(t)
				want := start.Add(elapsed).UTC().Format("2006-01-02T15:04:05.000Z")
				if got["time"] != want {
					t.Errorf("time = %v, want %s", got["time"], want)
				}
				if want := float64(elapsed.Milliseconds()); got["duration_ms"] != want {
					t.Errorf("duration_ms = %v, want %v", got["duration_ms"], want)
				}
			})
		}
	})

	t.Run("writes the request", func(t *testing.T) {
		e, rec := newEngine(t)
		e.WithName(xlog.NamedHTTP).Access(t.Context(), &xlog.AccessLine{
			Method: "POST", Path: "/u/1", Route: "/u/:id", Status: 404, Bytes: 12,
			Start: noon.Add(-1234567), ClientIP: "192.0.2.1", UserAgent: "curl",
			ErrorCode: 40400, ErrorMessage: "not found",
		})
		want := `{"time":"2025-03-04T12:00:00.123Z","level":"info","name":"HTTP","msg":"request","method":"POST","path":"/u/1",` +
			`"route":"/u/:id","status":404,"bytes":12,"duration_ms":1.234,"client_ip":"192.0.2.1","error_code":40400,` +
			`"error_message":"not found","user_agent":"curl"}` + "\n"
		if got := rec.one(t); got != want {
			t.Errorf("line =\n%s, want\n%s", got, want)
		}
		e.WithName("").Access(t.Context(), &xlog.AccessLine{Method: "GET", Path: "/", Status: 204})
		suffix := `"path":"/","status":204,"bytes":0,"duration_ms":0}` + "\n"
		if got := rec.one(t); !strings.HasSuffix(got, suffix) {
			t.Errorf("line with empty fields = %s, want them omitted", got)
		}
	})

	t.Run("derives the level from the status", func(t *testing.T) {
		e, rec := newEngine(t)
		for status, want := range map[int]string{
			101: "info", 200: "info", 304: "info", 400: "info", 499: "info",
			500: "error", 599: "error",
		} {
			e.WithName("").Access(t.Context(), &xlog.AccessLine{Status: status})
			if got := rec.object(t)["level"]; got != want {
				t.Errorf("level of %d = %v, want %v", status, got, want)
			}
		}
		e.WithName("").Access(t.Context(), &xlog.AccessLine{Status: 500, Reported: true})
		if got := rec.object(t)["level"]; got != "info" {
			t.Errorf("level of a reported failure = %v, want info", got)
		}
	})

	t.Run("truncates client input between characters", func(t *testing.T) {
		e, rec := newEngine(t)
		e.WithName("").Access(t.Context(), &xlog.AccessLine{
			Method: strings.Repeat("M", 5000), Path: strings.Repeat("路", 5000),
			UserAgent: "x" + strings.Repeat("代", 5000), Status: 200,
		})
		line := rec.one(t)
		if len(line) > 3000 || strings.Contains(line, "\ufffd") || strings.Contains(line, "ufffd") {
			t.Errorf("%d bytes: %s", len(line), line)
		}
		decode(t, line)
	})
}

func TestLogNamedLogger_Call(t *testing.T) {
	t.Run("matches a line encoded by zerolog", func(t *testing.T) {
		for _, text := range []string{
			"/pkg.Service/Method", "", `/"\`, "/\x00\n\x1b[31m", "/汉字", "/\xff",
		} {
			e, rec := newEngine(t)
			log := e.WithName(xlog.NamedGRPC, text)
			request := xctx.NewRequest(t.Context(), nil)
			request.SetID(text)
			log.Call(request, &xlog.CallLine{
				Method: text, Stream: text, Status: text, Level: slog.LevelWarn,
				ClientIP: netip.MustParseAddr("192.0.2.1"), Source: text,
				Received: 1, Sent: 2, ErrorCode: 40400, ErrorMessage: text,
			})
			got := rec.one(t)
			attrs := []slog.Attr{
				slog.String("method", text), slog.String("stream", text),
				slog.String("status", text), slog.Duration("duration_ms", 0),
				slog.Int("received", 1), slog.Int("sent", 2),
				slog.String("client_ip", "192.0.2.1"), slog.String("source", text),
				slog.Int("error_code", 40400), slog.String("error_message", text),
			}
			if text == "" {
				attrs = []slog.Attr{attrs[0], attrs[2], attrs[3], attrs[6], attrs[8]}
			}
			log.Warn(request, "call", attrs...)
			if want := rec.one(t); got != want {
				t.Errorf("line\n%swant\n%s", got, want)
			}
		}
	})

	t.Run("truncates the error message like Access", func(t *testing.T) {
		e, rec := newEngine(t)
		long := strings.Repeat("é", 1<<20)
		e.WithName("").Call(t.Context(), &xlog.CallLine{ErrorMessage: long})
		call := rec.one(t)
		e.WithName("").Access(t.Context(), &xlog.AccessLine{Status: 400, ErrorMessage: long})
		for _, line := range []string{call, rec.one(t)} {
			if len(line) > 1024 || !utf8.ValidString(line) {
				t.Errorf("line of %d bytes, want a message truncated between characters", len(line))
			}
		}
	})
}
