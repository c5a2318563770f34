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

// panicked writes the line about a panic, and returns the status that the caller gets
// instead of its text. v is nil where the goroutine ends without a panic, and then no
// caller gets anything.
func (t *turn) panicked(ctx context.Context, method string, v any) error {
	if v == nil {
		v = "runtime.Goexit, or panic(nil)"
	}
	t.Log.Error(ctx, "panic", slog.String("method", method),
		slog.String("panic", rpcstatus.Cut(fmt.Sprint(v))),
		slog.String("stack", string(debug.Stack())))
	return rpcstatus.Panicked(ctx)
}

// leave ends the turn. st is the stream, nil for a unary call; err is a status or nil.
func (t *turn) leave(ctx context.Context, method string, st *stream, err error) {
	if t.parts&Access != 0 {
		t.access(ctx, method, st, err)
	}
	if t.counted {
		t.InFlight.leave(t.call.info)
	}
}

// aborted is what the access log says of a call whose panic somebody outside deals with.
const aborted = "the handler did not return"

// access writes the line of the access log. It says nothing of the messages.
func (t *turn) access(ctx context.Context, method string, st *stream, err error) {
	code := status.Code(err)
	unanswered := !t.returned && err == nil
	if unanswered {
		code = codes.Internal
	}
	at := level(code)
	switch {
	case code == codes.OK && quiet(method):
		at = slog.LevelDebug
	case code == codes.Unavailable && rpcstatus.Stopping(ctx), rpcstatus.Reported(err):
		at = slog.LevelInfo
	}
	if !t.Log.Enabled(ctx, at) {
		return
	}
	line := xlog.CallLine{
		Method: method, Status: names[min(code, codes.Unauthenticated+1)], Level: at,
		Start:    t.call.request.Start(),
		ClientIP: address(ctx), Source: meta.First(meta.Incoming(ctx), requestSource),
	}
	switch {
	case unanswered:
		line.ErrorMessage = aborted
	case err != nil:
		line.ErrorCode, line.ErrorMessage = rpcstatus.Failure(err)
	}
	if st != nil {
		line.Stream = streamKind(t.call.info.(*grpc.StreamServerInfo)) //nolint:forcetypeassert // a stream's
		line.Received, line.Sent = st.received.Load(), st.sent.Load()
	}
	t.Log.Call(ctx, &line)
}

// names are those of the codes in the log, and one for what is no code of gRPC's.
var names = [...]string{
	codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN",
	codes.InvalidArgument:  "INVALID_ARGUMENT",
	codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND",
	codes.AlreadyExists:    "ALREADY_EXISTS",
	codes.PermissionDenied: "PERMISSION_DENIED", codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED",
	codes.OutOfRange:    "OUT_OF_RANGE",
	codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL",
	codes.Unavailable: "UNAVAILABLE",
	codes.DataLoss:    "DATA_LOSS", codes.Unauthenticated: "UNAUTHENTICATED",
	codes.Unauthenticated + 1: "OTHER",
}

// level is that of a call's line: ERROR where the service failed, WARN where it refused.
// A client that no longer wants the answer is the ordinary end of many a stream; so is
// UNAVAILABLE while the application stops.
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

// quiet reports whether the successful calls of a method are logged for developers only.
func quiet(method string) bool {
	return strings.HasPrefix(method, "/grpc.health.") ||
		strings.HasPrefix(method, "/grpc.reflection.")
}

// address returns the client's address, invalid where the connection has none, as over a
// Unix socket.
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

// overhead returns the microseconds since the call began, at least 1: 0 would be none.
func overhead(r *xctx.Request) int64 { return max(1, time.Since(r.Start()).Microseconds()) }
