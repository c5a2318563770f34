// Package xlog writes the log: named loggers, log/slog attributes, zerolog underneath.
//
//	var log = xlog.WithName(xlog.NamedSERV)
//
//	log.Info(ctx, "user registered", slog.Int64("user", id), slog.Any("token", token))
//
// People at a terminal see coloured, aligned lines; everything else gets JSON, one object
// a line, with the keys time, level, name, msg and request_id before the attributes. Text
// from outside forges no line in either form. Values of the type Secret, and values under
// keys such as password or token, are masked. See Engine for where lines go.
//
// Loggers and engines are safe for concurrent use. A nil context is fine everywhere.
package xlog

import (
	"context"
	"log/slog"
	"slices"
	"strings"
)

// LogNamedLogger writes lines under a name. Its lines go to the engine that the context
// carries (see NewContext), else to the default one at the time of the call, so a package
// variable may hold it long before the log is set up. A nil *LogNamedLogger writes lines
// without a name.
type LogNamedLogger struct {
	member string  // the name as encodeName writes it
	engine *Engine // nil: the default engine
}

// WithName returns a logger whose lines carry name. Options narrow it:
// WithName(NamedSERV, "user") is SERV.user.
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

// Slog returns the same logger for code that speaks log/slog.
func (l *LogNamedLogger) Slog() *slog.Logger {
	return slog.New(&handler{LogNamedLogger: l})
}

// Enabled reports whether a line of this level would be written.
func (l *LogNamedLogger) Enabled(ctx context.Context, level slog.Level) bool {
	return l.target(ctx).Enabled(level)
}

// Debug writes a line for developers.
func (l *LogNamedLogger) Debug(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelDebug, msg, attrs...)
}

// Info writes a line about the ordinary course of things.
func (l *LogNamedLogger) Info(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, slog.LevelInfo, msg, attrs...)
}

// Notice writes a line about what is ordinary and still worth attention, such as a start
// or a stop.
func (l *LogNamedLogger) Notice(ctx context.Context, msg string, attrs ...slog.Attr) {
	l.Log(ctx, LevelNotice, msg, attrs...)
}

// Warn writes a line about what should not be, but was coped with.
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

// Log writes a line of any level. It allocates nothing where the attributes' values need
// none.
func (l *LogNamedLogger) Log(
	ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr,
) {
	if e := l.target(ctx); e.Enabled(level) {
		e.emit(ctx, level, l.nameMember(), msg, attrs)
	}
}

// target returns the engine that takes the lines of this call.
func (l *LogNamedLogger) target(ctx context.Context) *Engine {
	if e := contextEngine(ctx); e != nil {
		return e
	}
	if l != nil && l.engine != nil {
		return l.engine
	}
	return Default()
}
