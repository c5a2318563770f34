package xlog

import (
	"context"
	"log/slog"
)

// SugarDebug is Debug with the arguments of slog.Logger.Debug: alternating keys and
// values, or attributes.
func (l *LogNamedLogger) SugarDebug(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelDebug, msg, args)
}

// SugarInfo is Info with the arguments of slog.Logger.Info.
func (l *LogNamedLogger) SugarInfo(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelInfo, msg, args)
}

// SugarNotice is Notice with the arguments of slog.Logger.Info.
func (l *LogNamedLogger) SugarNotice(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, LevelNotice, msg, args)
}

// SugarWarn is Warn with the arguments of slog.Logger.Warn.
func (l *LogNamedLogger) SugarWarn(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelWarn, msg, args)
}

// SugarError is Error with the arguments of slog.Logger.Error.
func (l *LogNamedLogger) SugarError(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, slog.LevelError, msg, args)
}

// SugarPanic is Panic with the arguments of slog.Logger.Error.
func (l *LogNamedLogger) SugarPanic(ctx context.Context, msg string, args ...any) {
	l.sugar(ctx, levelPanic, msg, args)
	panic(msg)
}

// sugar parses args by the rules of slog: a key without a value becomes !BADKEY.
func (l *LogNamedLogger) sugar(ctx context.Context, level slog.Level, msg string, args []any) {
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	r := slog.NewRecord(e.clock(), level, msg, 0)
	r.Add(args...)
	_ = (&handler{LogNamedLogger: l}).Handle(ctx, r) // Handle does not fail
}
