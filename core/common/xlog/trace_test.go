package xlog_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
)

func TestLogNamedLogger_Trace(t *testing.T) {
	t.Run("writes name, outcome and duration", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, tc := range []struct {
				name string
				err  error
				want string
			}{
				{
					name: "ok",
					want: `"level":"debug","name":"SERV","msg":"call","call":"User.Find","outcome":"ok","duration_ms":12`,
				},
				{
					name: "error", err: errBoom,
					want: `"level":"warn","name":"SERV","msg":"call","call":"User.Find","outcome":"error","duration_ms":12,"error":"boom"`,
				},
			} {
				e, rec := newEngine(t)
				find := func(context.Context) error {
					<-time.After(12 * time.Millisecond)
					return tc.err
				}
				headers := http.Header{"Authorization": {"Bearer abc"}, "Accept": {"*/*"}}
				err := e.WithName(xlog.NamedSERV).Trace(t.Context(), "User.Find", find,
					slog.Any("headers", headers))
				if !errors.Is(err, tc.err) {
					t.Errorf("%s: error = %v, want %v", tc.name, err, tc.err)
				}
				line := rec.one(t)
				want := tc.want + `,"headers":{"Accept":["*/*"],"Authorization":"***"}}`
				if !strings.Contains(line, want) {
					t.Errorf("%s: line = %s, want %s", tc.name, line, want)
				}
			}
		})
	})

	t.Run("propagates a panic", func(t *testing.T) {
		e, rec := newEngine(t)
		defer func() {
			if got := recover(); got != "failed" {
				t.Errorf("panic value = %v", got)
			}
			if m := rec.object(t); m["outcome"] != "panic" || m["level"] != "error" {
				t.Errorf("line = %v", m)
			}
		}()
		_ = xlog.Trace(xlog.NewContext(t.Context(), e), "call",
			func(context.Context) error { panic("failed") })
	})

	t.Run("writes nothing below its level", func(t *testing.T) {
		e, rec := newEngine(t, func(c *xlog.Config) { c.Level = slog.LevelInfo })
		if err := e.WithName("").Trace(t.Context(), "call",
			func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		if got := rec.take(); len(got) != 0 {
			t.Errorf("lines = %q", got)
		}
	})
}
