package xlog

import (
	"context"
	"log/slog"
	"net/http"
	"time"
	"unicode/utf8"
)

// AccessLine is what the access log says of one request. Empty fields are left out of the line, except
// Status, Bytes and Duration.
type AccessLine struct {
	Method string
	// Path is the request's path without the query, which may hold secrets.
	Path string
	// Route is the pattern that matched.
	Route  string
	Status int
	// Bytes is the size of the response's body.
	Bytes int64
	// Duration is written as duration_ms, milliseconds with a fraction.
	Duration time.Duration
	// Start is when the request began. Where it is set, Duration is the time from it to the line.
	Start     time.Time
	ClientIP  string
	UserAgent string
	// ErrorCode and ErrorMessage are those of the error that answered the request.
	ErrorCode    int
	ErrorMessage string
}

// What a client sends is cut here, at the border of a character: a header may be 64 KB long.
const (
	maxPath      = 2048
	maxUserAgent = 256
)

// Level returns the level of the line: Error for a status from 500 on, Warn from 400 on, else Info.
func (a *AccessLine) Level() slog.Level {
	switch {
	case a.Status >= http.StatusInternalServerError:
		return slog.LevelError
	case a.Status >= http.StatusBadRequest:
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// Access writes the line of one request, with the message "request". It allocates nothing.
func (l *LogNamedLogger) Access(ctx context.Context, a *AccessLine) {
	level := a.Level()
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	ln, now := e.line(), e.clock()
	took := a.Duration
	if !a.Start.IsZero() {
		took = now.Sub(a.Start)
	}
	ln.begin(requestID(ctx), now, level, l.nameMember(), "request")
	ev := ln.event
	ev.Str("method", cut(a.Method, maxUserAgent)).Str("path", cut(a.Path, maxPath))
	if a.Route != "" {
		ev.Str("route", a.Route)
	}
	ev.Int("status", a.Status).Int64("bytes", a.Bytes)
	ln.addDuration("duration_ms", took.Truncate(time.Microsecond))
	if a.ClientIP != "" {
		ev.Str("client_ip", cut(a.ClientIP, maxUserAgent))
	}
	if a.ErrorCode != 0 {
		ev.Int("error_code", a.ErrorCode)
	}
	if a.ErrorMessage != "" {
		ev.Str("error_message", a.ErrorMessage)
	}
	if a.UserAgent != "" {
		ev.Str("user_agent", cut(a.UserAgent, maxUserAgent))
	}
	ev.Send()
}

// cut returns at most n bytes of s, and no part of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
