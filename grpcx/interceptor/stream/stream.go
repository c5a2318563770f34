// Package stream provides the interceptors for streaming calls.
//
// They are those of package unary in the same order, without ResponseBuilder. Each of
// them converts errors to statuses, including panics after the first message. All
// interceptors are safe for concurrent use.
package stream

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Trace assigns a request ID and a start time to each stream and sends the ID in the
// trailer x_request_uuid.
func Trace() grpc.StreamServerInterceptor { return call.Stream(call.Trace, call.Config{}) }

// InitContext exposes the values of main, the application's context, to each stream.
// Cancellation and deadline of the stream do not change.
func InitContext(main context.Context) grpc.StreamServerInterceptor {
	return call.Stream(call.Context, call.Config{App: main})
}

// AccessLog logs each stream after it completes, with the number of messages received and
// sent. If log is nil, the logger GRPC is used.
func AccessLog(log *xlog.LogNamedLogger) grpc.StreamServerInterceptor {
	return call.Stream(call.Access, call.Config{Log: log})
}

// Recover converts a panic to SERVER_INTERNAL_ERROR and logs the method, the panic value
// and the stack. It cannot recover panics in goroutines that the handler or an inner
// interceptor starts.
func Recover() grpc.StreamServerInterceptor { return call.Stream(call.Recover, call.Config{}) }

// Middleware runs the middleware that was registered for the service by
// middleware.UseStream.
func Middleware() grpc.StreamServerInterceptor {
	return call.Stream(call.Middleware, call.Config{})
}

// Validate validates each received message, as for unary calls. RecvMsg returns the
// status of a rejected message.
func Validate(checks ...validation.Check) grpc.StreamServerInterceptor {
	return call.Stream(call.Validate, call.Config{Checks: checks})
}
