package xlog

import (
	"context"
	"log/slog"
)

// unnamed takes the calls of the package functions.
var unnamed *LogNamedLogger

// Debug writes a line without a name for developers.
func Debug(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelDebug, msg, attrs...)
}

// Info writes a line without a name about the ordinary course of things.
func Info(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelInfo, msg, attrs...)
}

// Notice writes a line without a name about what is ordinary and still worth attention.
func Notice(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, LevelNotice, msg, attrs...)
}

// Warn writes a line without a name about what should not be, but was coped with.
func Warn(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelWarn, msg, attrs...)
}

// Error writes a line without a name about a failure.
func Error(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Log(ctx, slog.LevelError, msg, attrs...)
}

// Panic writes a line without a name, and then panics with msg.
func Panic(ctx context.Context, msg string, attrs ...slog.Attr) {
	unnamed.Panic(ctx, msg, attrs...)
}

// SugarDebug is Debug with keys and values in turn.
func SugarDebug(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelDebug, msg, args)
}

// SugarInfo is Info with keys and values in turn.
func SugarInfo(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelInfo, msg, args)
}

// SugarNotice is Notice with keys and values in turn.
func SugarNotice(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, LevelNotice, msg, args)
}

// SugarWarn is Warn with keys and values in turn.
func SugarWarn(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelWarn, msg, args)
}

// SugarError is Error with keys and values in turn.
func SugarError(ctx context.Context, msg string, args ...any) {
	unnamed.sugar(ctx, slog.LevelError, msg, args)
}

// SugarPanic is Panic with keys and values in turn.
func SugarPanic(ctx context.Context, msg string, args ...any) {
	unnamed.SugarPanic(ctx, msg, args...)
}
