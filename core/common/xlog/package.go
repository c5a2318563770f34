package xlog

import (
	"context"
	"log/slog"
)

// unnamed is the nil logger of the package functions.
var unnamed *LogNamedLogger

// Debug writes a line without a logger name for developers.
func Debug(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelDebug, msg, attrs...)
}

// Info writes a line without a logger name about normal operation.
func Info(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelInfo, msg, attrs...)
}

// Notice writes a line without a logger name about a normal but significant event.
func Notice(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, LevelNotice, msg, attrs...)
}

// Warn writes a line without a logger name about an unexpected condition that the service
// handled.
func Warn(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelWarn, msg, attrs...)
}

// Error writes a line without a logger name about a failure.
func Error(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelError, msg, attrs...)
}

// Panic writes a line without a logger name, and then panics with msg.
func Panic(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Panic(ctx, msg, attrs...)
}

// SugarDebug is Debug with alternating keys and values.
func SugarDebug(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelDebug, msg, args)
}

// SugarInfo is Info with alternating keys and values.
func SugarInfo(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelInfo, msg, args)
}

// SugarNotice is Notice with alternating keys and values.
func SugarNotice(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, LevelNotice, msg, args)
}

// SugarWarn is Warn with alternating keys and values.
func SugarWarn(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelWarn, msg, args)
}

// SugarError is Error with alternating keys and values.
func SugarError(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelError, msg, args)
}

// SugarPanic is Panic with alternating keys and values.
func SugarPanic(ctx context.Context, msg string, args ...any) {
	unnamed.SugarPanic(ctx, msg, args...)
}
