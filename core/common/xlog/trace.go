package xlog

import (
	"context"
	"log/slog"
	"time"
)

// Trace calls fn and writes a line without a logger's name about it; see LogNamedLogger.Trace.
func Trace(ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr) error {
	return unnamed.Trace(ctx, name, fn, attrs...)
}

// TraceValue is Trace for a function that returns a value. The value is not logged.
func TraceValue[T any](
	ctx context.Context, name string, fn func(ctx context.Context) (T, error), attrs ...slog.Attr,
) (value T, err error) {
	err = Trace(ctx, name, func(ctx context.Context) error {
		value, err = fn(ctx)
		return err
	}, attrs...)
	return value, err
}

// Trace calls fn, a call of a service or a repository, and writes one line about it: the call's name,
// its outcome (ok, error or panic), its duration_ms, the error, and attrs, in which headers and other
// values are masked by key as everywhere. The level is Debug for ok, Warn for an error, Error for a
// panic, which goes on. The error is fn's own. fn gets context.Background() where ctx is nil.
func (l *LogNamedLogger) Trace(
	ctx context.Context, name string, fn func(ctx context.Context) error, attrs ...slog.Attr,
) error {
	if ctx == nil {
		ctx = context.Background() // there is none to inherit
	}
	t := trace{log: l, name: name, attrs: attrs, start: time.Now()}
	done := false
	defer func() {
		if !done { // a panic, or runtime.Goexit; neither is stopped here
			t.write(ctx, slog.LevelError, "panic", nil)
		}
	}()
	err := fn(ctx)
	done = true
	if err != nil {
		t.write(ctx, slog.LevelWarn, "error", err)
		return err
	}
	t.write(ctx, slog.LevelDebug, "ok", nil)
	return nil
}

// trace is a call under way.
type trace struct {
	log   *LogNamedLogger
	name  string
	attrs []slog.Attr
	start time.Time
}

func (t *trace) write(ctx context.Context, level slog.Level, outcome string, err error) {
	took := time.Since(t.start)
	if !t.log.Enabled(ctx, level) {
		return
	}
	attrs := make([]slog.Attr, 0, len(t.attrs)+4)
	attrs = append(attrs, slog.String("call", t.name), slog.String("outcome", outcome),
		slog.Duration("duration_ms", took.Truncate(time.Microsecond)))
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	t.log.Log(ctx, level, "call", append(attrs, t.attrs...)...)
}
