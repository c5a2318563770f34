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

// AccessLine describes one HTTP request in the access log. Empty fields are omitted from
// the line, except Method, Path, Status, Bytes and the duration.
type AccessLine struct {
	Method string
	// Path is the path of the request without the query, which may contain secrets.
	Path string
	// Route is the route pattern that matched.
	Route  string
	Status int
	// Bytes is the size of the response body.
	Bytes int64
	// Start is the start time of the request. The line contains the time since then as
	// duration_ms, in milliseconds with a fraction.
	Start     time.Time
	ClientIP  string
	UserAgent string
	// ErrorCode and ErrorMessage describe the error that the response reported.
	ErrorCode    int
	ErrorMessage string
	// Reported means that the failure is already logged. The level of this line is then
	// Info.
	Reported bool
}

// Limits for client input, in bytes. Truncation does not split characters. A header may
// be 64 KB long.
const (
	maxPath      = 2048
	maxUserAgent = 256
	maxMessage   = 512 // of an error, which may repeat client input
)

// level returns Error for a status of 500 or above that is not reported, and Info
// otherwise. A status of 4xx is a client error.
func (a *AccessLine) level() slog.Level {
	if a.Status >= http.StatusInternalServerError && !a.Reported {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Access writes the line of one HTTP request, with the message "request". It does not
// allocate. Because the members are fixed, Access encodes them without zerolog, which
// takes a third of the time.
func (l *LogNamedLogger) Access(ctx context.Context, a *AccessLine) {
	l.writeFixed(ctx, a.level(), `"request"`, a.Start, a.append)
}

// writeFixed writes a line with a fixed set of members. The message is already JSON;
// members appends the members after the head.
func (l *LogNamedLogger) writeFixed(
	ctx context.Context, level slog.Level, msg string, start time.Time,
	members func(b []byte, elapsed time.Duration) []byte,
) {
	e := l.target(ctx)
	if !e.Enabled(level) {
		return
	}
	now, elapsed := e.elapsed(start)
	buf := buffers.Get().(*[]byte)
	b := append(appendHead(append((*buf)[:0], '{'), now, level, l.nameMember()), msg...)
	b = appendMember(b, requestIDMember, xctx.RequestID(ctx))
	b = append(members(b, elapsed.Truncate(time.Microsecond)), "}\n"...)
	_, _ = e.sink.Write(b) // Write does not fail
	*buf = b
	release(buf)
}

// elapsed returns the current time and the time since start.
//
// For a short request, the current time is start plus the monotonic duration. That saves
// one clock reading, and differs only if the wall clock is adjusted during the request.
func (e *Engine) elapsed(start time.Time) (now time.Time, elapsed time.Duration) {
	if start.IsZero() {
		return e.clock(), 0
	}
	if e.realClock {
		if elapsed = time.Since(start); elapsed >= 0 && elapsed < time.Second {
			return start.Add(elapsed), elapsed
		}
	}
	now = e.clock()
	return now, now.Sub(start)
}

func (a *AccessLine) append(b []byte, elapsed time.Duration) []byte {
	b = appendText(append(b, `,"method":`...), jsonline.Cut(a.Method, maxUserAgent))
	b = appendText(append(b, `,"path":`...), jsonline.Cut(a.Path, maxPath))
	b = appendMember(b, `,"route":`, a.Route)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(a.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), a.Bytes, 10)
	b = appendMillis(append(b, `,"duration_ms":`...), elapsed)
	b = appendMember(b, `,"client_ip":`, jsonline.Cut(a.ClientIP, maxUserAgent))
	b = appendFailure(b, a.ErrorCode, a.ErrorMessage)
	return appendMember(b, `,"user_agent":`, jsonline.Cut(a.UserAgent, maxUserAgent))
}

// appendMember appends a member, or nothing if value is empty. The key is encoded, with
// its comma and colon.
func appendMember(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, key...), value)
}

func appendFailure(b []byte, code int, message string) []byte {
	if code != 0 {
		b = strconv.AppendInt(append(b, `,"error_code":`...), int64(code), 10)
	}
	return appendMember(b, `,"error_message":`, jsonline.Cut(message, maxMessage))
}
