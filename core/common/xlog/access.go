package xlog

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rs/zerolog"
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
//
// It is the one line that every request pays for, and its members are known, so it is put together here
// and not by zerolog: in the same form, at a third of the time.
func (l *LogNamedLogger) Access(ctx context.Context, a *AccessLine) {
	level := a.Level()
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	now, took := a.end(e)
	buf := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool's New
	b := append((*buf)[:0], '{')
	if !now.IsZero() {
		b = append(appendTime(append(b, `"`+keyTime+`":"`...), now), `",`...)
	}
	b = append(append(b, `"`+keyLevel+`":"`...), levelText(level)...)
	b = append(append(b, '"'), l.nameMember()...)
	b = append(b, `,"`+keyMsg+`":"request"`...)
	b = appendMember(b, `,"`+keyRequestID+`":`, requestID(ctx))
	b = append(a.append(b, took), "}\n"...)
	*buf = b
	_, _ = e.sink.WriteLevel(zerolog.NoLevel, b) // a sink does not fail
	release(buf)
}

// end returns the time of the line and the duration.
//
// A short request's end is its start and what the monotonic clock says: that is half of reading both
// clocks, and the same unless somebody sets the other clock meanwhile.
func (a *AccessLine) end(e *Engine) (now time.Time, took time.Duration) {
	if a.Start.IsZero() {
		return e.clock(), a.Duration
	}
	if e.realClock {
		if took = time.Since(a.Start); took >= 0 && took < time.Second {
			return a.Start.Add(took), took
		}
	}
	now = e.clock()
	return now, now.Sub(a.Start)
}

// append appends the members that the request has.
func (a *AccessLine) append(b []byte, took time.Duration) []byte {
	b = appendText(append(b, `,"method":`...), cut(a.Method, maxUserAgent))
	b = appendText(append(b, `,"path":`...), cut(a.Path, maxPath))
	b = appendMember(b, `,"route":`, a.Route)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(a.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), a.Bytes, 10)
	b = appendMillis(append(b, `,"duration_ms":`...), took.Truncate(time.Microsecond))
	b = appendMember(b, `,"client_ip":`, cut(a.ClientIP, maxUserAgent))
	if a.ErrorCode != 0 {
		b = strconv.AppendInt(append(b, `,"error_code":`...), int64(a.ErrorCode), 10)
	}
	b = appendMember(b, `,"error_message":`, a.ErrorMessage)
	return appendMember(b, `,"user_agent":`, cut(a.UserAgent, maxUserAgent))
}

// appendMember appends a member of a line, or nothing where it has no value. The key is JSON already,
// with its comma and its colon.
func appendMember(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, key...), value)
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
