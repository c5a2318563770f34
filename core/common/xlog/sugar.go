package xlog

import (
	"context"
	"log/slog"
)

// SugarDebug is Debug with the arguments of slog.Logger.Debug: keys and values in turn,
// or attributes.
func (l *LogNamedLogger) SugarDebug(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelDebug, msg, args)
}

// SugarInfo is Info with keys and values in turn.
func (l *LogNamedLogger) SugarInfo(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelInfo, msg, args)
}

// SugarNotice is Notice with keys and values in turn.
func (l *LogNamedLogger) SugarNotice(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, LevelNotice, msg, args)
}

// SugarWarn is Warn with keys and values in turn.
func (l *LogNamedLogger) SugarWarn(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelWarn, msg, args)
}

// SugarError is Error with keys and values in turn.
func (l *LogNamedLogger) SugarError(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelError, msg, args)
}

// SugarPanic is Panic with keys and values in turn.
func (l *LogNamedLogger) SugarPanic(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, levelPanic, msg, args)
	panic(msg)
}

// sugar leaves the reading of args to slog, so that its rules hold (a key without a value
// is !BADKEY).
func (l *LogNamedLogger) sugar(ctx context.Context, level slog.Level, msg string, args []any) {
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	r := slog.NewRecord(e.clock(), level, msg, 0)
	r.Add(args...)
	_ = (&handler{LogNamedLogger: l}).Handle(ctx, r) // it does not fail
}
