package xlog

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/rs/zerolog"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
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
	// Reported means that the failure has a line of its own. This one is at Info then.
	Reported bool
}

// What a client sends is cut here, at the border of a character: a header may be 64 KB long.
const (
	maxPath      = 2048
	maxUserAgent = 256
	maxMessage   = 512 // of an error, which may repeat what a client sent
)

// Level returns the level of the line: Error for a status from 500 on, else Info. A status from 400 on is
// a fault of the client, and the service works as it should. It is Info if the failure is reported.
func (a *AccessLine) Level() slog.Level {
	if a.Status >= http.StatusInternalServerError && !a.Reported {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// Access writes the line of one request, with the message "request". It allocates nothing.
//
// It is the one line that every request pays for, and its members are known, so it is put together here
// and not by zerolog: in the same form, at a third of the time.
func (l *LogNamedLogger) Access(ctx context.Context, a *AccessLine) {
	if line := l.open(ctx, a.Level(), `,"`+keyMsg+`":"request"`, a.Start, a.Duration); line.buf != nil {
		line.close(a.append(line.bytes, line.took))
	}
}

// memberLine is a line that is put together by hand.
type memberLine struct {
	engine *Engine
	buf    *[]byte
	bytes  []byte
	took   time.Duration
}

// open begins a line with its head; message is a member in JSON. The line is zero where the level is disabled.
func (l *LogNamedLogger) open(ctx context.Context, level slog.Level, message string, start time.Time, took time.Duration) memberLine {
	e := l.target(ctx)
	if !e.Enabled(level) {
		return memberLine{}
	}
	now, took := end(e, start, took)
	buf := buffers.Get().(*[]byte)
	b := append((*buf)[:0], '{')
	if !now.IsZero() {
		b = append(appendTime(append(b, `"`+keyTime+`":"`...), now), `",`...)
	}
	b = append(append(b, `"`+keyLevel+`":"`...), levelText(level)...)
	b = append(append(b, '"'), l.nameMember()...)
	b = append(b, message...)
	b = appendMember(b, `,"`+keyRequestID+`":`, requestID(ctx))
	return memberLine{engine: e, buf: buf, bytes: b, took: took}
}

// close writes the line.
func (l *memberLine) close(b []byte) {
	b = append(b, "}\n"...)
	*l.buf = b
	_, _ = l.engine.sink.WriteLevel(zerolog.NoLevel, b) // a sink does not fail
	release(l.buf)
}

// end returns the time of the line and the duration, which is took where there is no start.
//
// A short request's end is its start and what the monotonic clock says: that is half of reading both
// clocks, and the same unless somebody sets the other clock meanwhile.
func end(e *Engine, start time.Time, took time.Duration) (now time.Time, duration time.Duration) {
	if start.IsZero() {
		return e.clock(), took
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
	b = appendMillis(append(b, `,"duration_ms":`...), took.Truncate(time.Microsecond))
	b = appendMember(b, `,"client_ip":`, jsonline.Cut(a.ClientIP, maxUserAgent))
	if a.ErrorCode != 0 {
		b = strconv.AppendInt(append(b, `,"error_code":`...), int64(a.ErrorCode), 10)
	}
	b = appendMember(b, `,"error_message":`, jsonline.Cut(a.ErrorMessage, maxMessage))
	return appendMember(b, `,"user_agent":`, jsonline.Cut(a.UserAgent, maxUserAgent))
}

// appendMember appends a member of a line, or nothing where it has no value. The key is JSON already,
// with its comma and its colon.
func appendMember(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendText(append(b, key...), value)
}
