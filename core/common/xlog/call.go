package xlog

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// CallLine describes one gRPC call in the access log. Empty fields are omitted from the
// line, except Method, Status and the duration.
type CallLine struct {
	// Method is the full method, /package.Service/Method.
	Method string
	// Stream is the streaming side: "client", "server" or "bidi". It is empty for a unary
	// call.
	Stream string
	// Status is the name of the gRPC status code, such as NOT_FOUND.
	Status string
	// Level is the level of the line.
	Level slog.Level
	// Start is the start time of the call. The line contains the time since then as
	// duration_ms, in milliseconds with a fraction.
	Start time.Time
	// ClientIP is the address of the connection.
	ClientIP netip.Addr
	// Source is the name of the calling service, as sent by the client.
	Source string
	// Received and Sent count the messages of a stream. The line of a unary call omits
	// them.
	Received, Sent int64
	// ErrorCode and ErrorMessage describe the error that the call returned.
	ErrorCode    int
	ErrorMessage string
}

// maxSource limits the name of a calling service, in bytes.
const maxSource = 64

// Call writes the line of one gRPC call, with the message "call". It does not allocate.
func (l *LogNamedLogger) Call(ctx context.Context, c *CallLine) {
	l.writeFixed(ctx, c.Level, `"call"`, c.Start, c.append)
}

func (c *CallLine) append(b []byte, elapsed time.Duration) []byte {
	b = appendText(append(b, `,"method":`...), jsonline.Cut(c.Method, maxPath))
	b = appendMember(b, `,"stream":`, c.Stream)
	b = appendText(append(b, `,"status":`...), c.Status)
	b = appendMillis(append(b, `,"duration_ms":`...), elapsed)
	if c.Stream != "" {
		b = strconv.AppendInt(append(b, `,"received":`...), c.Received, 10)
		b = strconv.AppendInt(append(b, `,"sent":`...), c.Sent, 10)
	}
	if c.ClientIP.IsValid() {
		b = append(c.ClientIP.AppendTo(append(b, `,"client_ip":"`...)), '"')
	}
	b = appendMember(b, `,"source":`, jsonline.Cut(c.Source, maxSource))
	return appendFailure(b, c.ErrorCode, c.ErrorMessage)
}
