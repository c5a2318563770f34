package xlog

import (
	"context"
	"log/slog"
	"net/netip"
	"strconv"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog/internal/jsonline"
)

// CallLine is what the access log says of one gRPC call. Empty fields are left out of the
// line, except Status and the duration.
type CallLine struct {
	// Method is the full method, /package.Service/Method.
	Method string
	// Stream says which side streams: "client", "server" or "bidi"; it is empty for a
	// unary call.
	Stream string
	// Status is the name of the gRPC status code, such as NOT_FOUND.
	Status string
	// Level is that of the line.
	Level slog.Level
	// Start is when the call began; the line has the time since then as duration_ms,
	// milliseconds with a fraction.
	Start time.Time
	// ClientIP is the address of the connection.
	ClientIP netip.Addr
	// Source is the service that called, as it says.
	Source string
	// Received and Sent count the messages of a stream.
	Received, Sent int64
	// ErrorCode and ErrorMessage are those of the error that answered the call.
	ErrorCode    int
	ErrorMessage string
}

// maxSource is where the name of a calling service is cut, in bytes.
const maxSource = 64

// Call writes the line of one gRPC call, with the message "call". It allocates nothing.
func (l *LogNamedLogger) Call(ctx context.Context, c *CallLine) {
	l.writeKnown(ctx, c.Level, `"call"`, c.Start, c.append)
}

// append appends the members that the call has.
func (c *CallLine) append(b []byte, took time.Duration) []byte {
	b = appendText(append(b, `,"method":`...), jsonline.Cut(c.Method, maxPath))
	b = appendMember(b, `,"stream":`, c.Stream)
	b = appendText(append(b, `,"status":`...), c.Status)
	b = appendMillis(append(b, `,"duration_ms":`...), took)
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
