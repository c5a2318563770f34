// Package xlog provides named loggers with log/slog attributes, encoded by zerolog.
//
//	var log = xlog.WithName(xlog.NamedSERV)
//
//	log.Info(ctx, "user registered", slog.Int64("user", id), slog.Any("token", token))
//
// On a terminal, lines are colored and aligned. Every other output receives JSON, one
// object per line, with the keys time, level, name, msg and request_id before the
// attributes. Both formats escape text so that input cannot forge a line. Values of type
// Secret, and values under keys such as password or token, are masked. Engine describes
// the outputs.
//
// Loggers and engines are safe for concurrent use. Every function accepts a nil context.
package xlog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
)

// LogNamedLogger writes lines under a name. Each call uses the engine of the context (see
// NewContext), or else the engine of the logger, or else the default engine. Therefore a
// package variable can contain a logger that is created before logging is configured. A
// nil *LogNamedLogger writes lines without a name.
type LogNamedLogger struct {
	member string  // the name, encoded by encodeName
	engine *Engine // nil for the default engine
}

// WithName returns a logger with a name. Options extend the name: WithName(NamedSERV,
// "user") is SERV.user.
func WithName(name string, options ...string) *LogNamedLogger {
	return newLogger(nil, name, options)
}

func newLogger(e *Engine, name string, options []string) *LogNamedLogger {
	parts := append([]string{name}, options...)
	joined := strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ".")
	return &LogNamedLogger{member: encodeName(joined), engine: e}
}

func (l *LogNamedLogger) nameMember() string {
	if l == nil {
		return ""
	}
	return l.member
}

// Slog returns a *slog.Logger with the same name and engine.
func (l *LogNamedLogger) Slog() *slog.Logger {
	return slog.New(&handler{LogNamedLogger: l})
}

// Enabled reports whether lines of this level are written.
func (l *LogNamedLogger) Enabled(ctx context.Context, level slog.Level) bool {
	return l.target(ctx).Enabled(level)
}

// Debug writes a line for developers.
func (l *LogNamedLogger) Debug(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelDebug, msg, attrs...)
}

// Info writes a line about normal operation.
func (l *LogNamedLogger) Info(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelInfo, msg, attrs...)
}

// Notice writes a line about a normal but significant event, such as startup or shutdown.
func (l *LogNamedLogger) Notice(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, LevelNotice, msg, attrs...)
}

// Warn writes a line about an unexpected condition that the service handled.
func (l *LogNamedLogger) Warn(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelWarn, msg, attrs...)
}

// Error writes a line about a failure.
func (l *LogNamedLogger) Error(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelError, msg, attrs...)
}

// Panic writes a line, and then panics with msg.
func (l *LogNamedLogger) Panic(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, levelPanic, msg, attrs...)
	panic(msg)
}

// Log writes a line of any level. It does not allocate unless encoding the values does.
func (l *LogNamedLogger) Log(
	ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr,
) {
	if e := l.target(ctx); e.Enabled(level) {
		e.emit(ctx, level, l.nameMember(), msg, attrs)
	}
}

func (l *LogNamedLogger) target(ctx context.Context) *Engine {
	if e := contextEngine(ctx); e != nil {
		return e
	}
	if l != nil && l.engine != nil {
		return l.engine
	}
	return Default()
}
