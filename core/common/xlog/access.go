package xlog

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// AccessLine is what the access log says of one request. Empty fields are left out of the
// line, except Status, Bytes and the duration.
type AccessLine struct {
	Method string
	// Path is the request's path without the query, which may hold secrets.
	Path string
	// Route is the pattern that matched.
	Route  string
	Status int
	// Bytes is the size of the response's body.
	Bytes int64
	// Start is when the request began; the line has the time since then as duration_ms,
	// milliseconds with a fraction.
	Start     time.Time
	ClientIP  string
	UserAgent string
	// ErrorCode and ErrorMessage are those of the error that answered the request.
	ErrorCode    int
	ErrorMessage string
	// Reported means that the failure has a line of its own. This one is at Info then.
	Reported bool
}

// What a client sends is cut here, at the border of a character: a header may be 64 KB
// long.
const (
	maxPath      = 2048
	maxUserAgent = 256
	maxMessage   = 512 // of an error, which may repeat what a client sent
)

// level returns the level of the line: Error for a status from 500 on, else Info. A
// status from 400 on is a fault of the client, and the service works as it should. It is
// Info if the failure is reported.
func (a *AccessLine) level() slog.Level {
	if a.Status >= http.StatusInternalServerError && !a.Reported {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Access writes the line of one request, with the message "request". It allocates
// nothing.
//
// It is the one line that every request pays for, and its members are known, so it is put
// together here and not by zerolog: in the same form, at a third of the time.
func (l *LogNamedLogger) Access(ctx context.Context, a *AccessLine) {
	l.writeKnown(ctx, a.level(), `"request"`, a.Start, a.append)
}

// writeKnown writes a line whose members are known: the head with a message that is JSON
// already, and what members appends for a duration.
func (l *LogNamedLogger) writeKnown(
	ctx context.Context, level slog.Level, msg string, start time.Time,
	members func(b []byte, took time.Duration) []byte,
) {
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	now, took := e.end(start)
	buf := buffers.Get().(*[]byte)
	b := append(appendHead(append((*buf)[:0], '{'), now, level, l.nameMember()), msg...)
	b = appendMember(b, requestIDMember, xctx.RequestID(ctx))
	b = append(members(b, took.Truncate(time.Microsecond)), "}\n"...)
	_, _ = e.sink.Write(b) // it does not fail
	*buf = b
	release(buf)
}

// end returns the time of a line, and how long what began at start has taken.
//
// A short request's end is its start and what the monotonic clock says: that is half of
// reading both clocks, and the same unless somebody sets the other clock meanwhile.
func (e *Engine) end(start time.Time) (now time.Time, took time.Duration) {
	if start.IsZero() {
		return e.clock(), 0
	}
	if e.realClock {
		if took = time.Since(start); took >= 0 && took < time.Second {
			return start.Add(took), took
		}
	}
	now = e.clock()
	return now, now.Sub(start)
}

// append appends the members that the request has.
func (a *AccessLine) append(b []byte, took time.Duration) []byte {
	b = appendText(append(b, `,"method":`...), jsonline.Cut(a.Method, maxUserAgent))
	b = appendText(append(b, `,"path":`...), jsonline.Cut(a.Path, maxPath))
	b = appendMember(b, `,"route":`, a.Route)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(a.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), a.Bytes, 10)
	b = appendMillis(append(b, `,"duration_ms":`...), took)
	b = appendMember(b, `,"client_ip":`, jsonline.Cut(a.ClientIP, maxUserAgent))
	b = appendFailure(b, a.ErrorCode, a.ErrorMessage)
	return appendMember(b, `,"user_agent":`, jsonline.Cut(a.UserAgent, maxUserAgent))
}

// appendMember appends a member of a line, or nothing where it has no value. The key is
// JSON already, with its comma and its colon.
func appendMember(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, key...), value)
}

// appendFailure appends the error that answered a request or a call.
func appendFailure(b []byte, code int, message string) []byte {
	if code != 0 {
		b = strconv.AppendInt(append(b, `,"error_code":`...), int64(code), 10)
	}
	return appendMember(b, `,"error_message":`, jsonline.Cut(message, maxMessage))
}
