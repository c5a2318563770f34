package xlog

import (
	"context"
	"log/slog"
	"time"
)

// Trace calls fn and writes a line without a logger's name about it; see
// LogNamedLogger.Trace.
func Trace(
	ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr,
) error {
	return unnamed.Trace(ctx, name, fn, attrs...)
}

// Trace calls fn, a call of a service or a repository, and writes one line about it: the
// call's name, its outcome (ok, error or panic), its duration_ms, the error, and attrs,
// in which headers and other values are masked by key as everywhere. The level is Debug
// for ok, Warn for an error, Error for a panic, which goes on. The error is fn's own. fn
// gets context.Background() where ctx is nil.
func (l *LogNamedLogger) Trace(
	ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr,
) (err error) {
	if ctx == nil {
		ctx = context.Background() // there is none to inherit
	}
	start := time.Now()
	level, outcome := slog.LevelError, "panic" // or runtime.Goexit; neither is stopped here
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
