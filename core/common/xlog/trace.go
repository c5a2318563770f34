package xlog

import (
	"context"
	"log/slog"
	"time"
)

// Trace calls fn and writes a line without a logger name; see LogNamedLogger.Trace.
func Trace(
	ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr,
) error {
	return unnamed.Trace(ctx, name, fn, attrs...)
}

// Trace calls fn and writes one line about the call. The line contains the name, the
// outcome (ok, error or panic), duration_ms, the error, and attrs, masked by key. The
// level is Debug for ok, Warn for an error and Error for a panic. Trace returns the error
// of fn and does not recover a panic. If ctx is nil, fn receives context.Background().
func (l *LogNamedLogger) Trace(
	ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr,
) (err error) {
	if ctx == nil {
		ctx = context.Background()
	}
	start := time.Now()
	level, outcome := slog.LevelError, "panic" // or runtime.Goexit; neither is recovered here
	defer func() {
		if !l.Enabled(ctx, level) {
			return
		}
		line := []slog.Attr{
			slog.String("call", name), slog.String("outcome", outcome),
			slog.Duration("duration_ms", time.Since(start).Truncate(time.Microsecond)),
		}
		if err != nil {
			line = append(line, slog.Any("error", err))
		}
		l.Log(ctx, level, "call", append(line, attrs...)...)
	}()
	if err = fn(ctx); err != nil {
		level, outcome = slog.LevelWarn, "error"
	} else {
		level, outcome = slog.LevelDebug, "ok"
	}
	return err
}
