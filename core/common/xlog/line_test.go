package xlog_test

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// The line of the allocation tests: five attributes and a request ID.
const (
	benchMsg      = "request served"
	benchMethod   = "GET"
	benchPath     = "/api/v1/user/42"
	benchStatus   = 200
	benchBytes    = 1234
	benchDuration = 1234567 * time.Nanosecond
)

func requestContext(tb testing.TB) context.Context {
	tb.Helper()
	r := xctx.NewRequest(tb.Context(), nil)
	r.GenerateID()
	return r
}

func benchEngine(tb testing.TB) *xlog.Engine {
	tb.Helper()
	e, err := xlog.New(xlog.Config{Writer: io.Discard, Format: xlog.FormatJSON})
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

func logFive(ctx context.Context, log *xlog.LogNamedLogger) {
	log.Info(ctx, benchMsg, slog.String("method", benchMethod), slog.String("path", benchPath),
		slog.Int("status", benchStatus), slog.Int64("bytes", benchBytes),
		slog.Duration("duration", benchDuration))
}
