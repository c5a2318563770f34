package call

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/internal/meta"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// panicked logs a panic and returns the status for the client. v is nil if the goroutine
// exits by runtime.Goexit; the client then receives no response.
func (t *invocation) panicked(ctx context.Context, method string, v any) error {
	if v == nil {
		v = "runtime.Goexit, or panic(nil)"
	}
	t.Log.Error(ctx, "panic", slog.String("method", method),
		slog.String("panic", rpcstatus.TruncateForLog(fmt.Sprint(v))),
		slog.String("stack", string(debug.Stack())))
	return rpcstatus.FromPanic(ctx)
}

// leave finishes the invocation. st is nil for unary calls. err is a status or nil.
func (t *invocation) leave(ctx context.Context, method string, st *stream, err error) {
	if t.features&Access != 0 {
		t.access(ctx, method, st, err)
	}
	if t.counted {
		t.InFlight.leave(t.call.info)
	}
}

// noReturn is the error message in the access log if a panic passes the interceptor.
const noReturn = "the handler did not return"

// access writes the access log line. The line does not contain messages.
func (t *invocation) access(ctx context.Context, method string, st *stream, err error) {
	code := status.Code(err)
	notReturned := !t.returned && err == nil
	if notReturned {
		code = codes.Internal
	}
	lineLevel := level(code)
	switch {
	case code == codes.OK && quiet(method):
		lineLevel = slog.LevelDebug
	case code == codes.Unavailable && rpcstatus.IsShuttingDown(ctx), rpcstatus.LoggedAtError(err):
		lineLevel = slog.LevelInfo
	}
	if !t.Log.Enabled(ctx, lineLevel) {
		return
	}
	line := xlog.CallLine{
		Method:   method,
		Status:   names[min(code, codes.Unauthenticated+1)],
		Level:    lineLevel,
		Start:    t.call.request.Start(),
		ClientIP: address(ctx),
		Source:   meta.First(meta.Incoming(ctx), requestSource),
	}
	switch {
	case notReturned:
		line.ErrorMessage = noReturn
	case err != nil:
		line.ErrorCode, line.ErrorMessage = rpcstatus.CodeAndMessage(err)
	}
	if st != nil {
		line.Stream = streamKind(t.call.info.(*grpc.StreamServerInfo)) //nolint:forcetypeassert // a stream's
		line.Received, line.Sent = st.received.Load(), st.sent.Load()
	}
	t.Log.Call(ctx, &line)
}

// names are the names of the codes in the log. The last one is for codes unknown to gRPC.
var names = [...]string{
	codes.OK:                 "OK",
	codes.Canceled:           "CANCELLED",
	codes.Unknown:            "UNKNOWN",
	codes.InvalidArgument:    "INVALID_ARGUMENT",
	codes.DeadlineExceeded:   "DEADLINE_EXCEEDED",
	codes.NotFound:           "NOT_FOUND",
	codes.AlreadyExists:      "ALREADY_EXISTS",
	codes.PermissionDenied:   "PERMISSION_DENIED",
	codes.ResourceExhausted:  "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION",
	codes.Aborted:            "ABORTED",
	codes.OutOfRange:         "OUT_OF_RANGE",
	codes.Unimplemented:      "UNIMPLEMENTED",
	codes.Internal:           "INTERNAL",
	codes.Unavailable:        "UNAVAILABLE",
	codes.DataLoss:           "DATA_LOSS",
	codes.Unauthenticated:    "UNAUTHENTICATED",

	codes.Unauthenticated + 1: "OTHER",
}

// level returns the level of an access log line: ERROR for server errors, WARN for
// rejected calls. A cancellation by the client is a normal end of a stream.
func level(code codes.Code) slog.Level {
	switch code {
	case codes.OK, codes.Canceled:
		return slog.LevelInfo
	case codes.Unknown, codes.Internal, codes.Unavailable, codes.DataLoss:
		return slog.LevelError
	default:
		return slog.LevelWarn
	}
}

// quiet reports whether successful calls of a method are logged at level DEBUG.
func quiet(method string) bool {
	return strings.HasPrefix(method, "/grpc.health.") ||
		strings.HasPrefix(method, "/grpc.reflection.")
}

// address returns the client's address, or the zero Addr for connections other than TCP,
// such as Unix sockets.
func address(ctx context.Context) netip.Addr {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return netip.Addr{}
	}
	tcp, ok := p.Addr.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// overhead returns the duration of the call in microseconds, at least 1, because 0 means
// not set.
func overhead(r *xctx.Request) int64 { return max(1, time.Since(r.Start()).Microseconds()) }
