// Package stream holds the interceptors for streams.
//
// They are those of package unary, in the same order, without a ResponseBuilder: a stream
// has no response to complete. Errors are mapped as there, by whichever of them is
// mounted; a panic after the first message ends the stream with its status as well.
// Everything here is safe for concurrent use.
package stream

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Trace gives every stream a request id and a start time, and sends the id back in the
// trailer x_request_uuid.
func Trace() grpc.StreamServerInterceptor { return call.Stream(call.Trace, call.Config{}) }

// InitContext lets every stream see what main carries, the application's context.
// Cancellation and deadline stay the stream's own.
func InitContext(main context.Context) grpc.StreamServerInterceptor {
	return call.Stream(call.Context, call.Config{App: main})
}

// AccessLog writes one line for each stream when it has ended, with the number of
// messages in either direction. A nil log is the logger GRPC.
func AccessLog(log *xlog.LogNamedLogger) grpc.StreamServerInterceptor {
	return call.Stream(call.Access, call.Config{Log: log})
}

// Recover turns a panic into SERVER_INTERNAL_ERROR, and logs the method, what was passed
// to panic, and the stack. A panic in a goroutine that the handler, or an interceptor
// further in, has started is out of its reach.
func Recover() grpc.StreamServerInterceptor { return call.Stream(call.Recover, call.Config{}) }

// Middleware runs the chain that middleware.UseStream has registered for the stream's
// service.
func Middleware() grpc.StreamServerInterceptor {
	return call.Stream(call.Middleware, call.Config{})
}

// Validate checks every message that is received, as for unary calls. RecvMsg returns the
// status of one that is refused.
func Validate(checks ...validation.Check) grpc.StreamServerInterceptor {
	return call.Stream(call.Validate, call.Config{Checks: checks})
}
