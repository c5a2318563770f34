// Package unary provides the interceptors for unary calls.
//
// The runner mounts all of them: Trace, InitContext, AccessLog and Recover outside the
// application's interceptors, Middleware, Validate and ResponseBuilder inside. Without
// the runner, chain them in this order:
//
//	grpc.ChainUnaryInterceptor(
//		unary.Trace(), unary.InitContext(ctx), unary.AccessLog(nil), unary.Recover(),
//		unary.Middleware(), unary.Validate(), unary.ResponseBuilder(),
//	)
//
// An interceptor that is mounted twice runs once per call, with two exceptions: a second
// Recover protects the goroutine in which it runs, and a second Validate adds its checks.
// An application interceptor in between may call the next handler repeatedly, even
// concurrently. Every error that an interceptor returns is a gRPC status; see
// ResponseBuilder for the conversion. All interceptors are safe for concurrent use.
package unary

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Trace assigns a request ID and a start time to each call.
//
// It accepts the ID in the metadata x_request_uuid, or x-request-uuid, if it consists of
// 1 to 64 characters of [A-Za-z0-9._-]; otherwise it generates a UUID. The ID is stored
// in the context under xctx.RequestKey, the start time under xctx.UserStartTimeKey. The
// trailer x_request_uuid contains the ID, even if the handler fails or panics.
func Trace() grpc.UnaryServerInterceptor { return call.Unary(call.Trace, call.Config{}) }

// InitContext exposes the values of main, the application's context, to each call: node,
// database, cache and logger. It also applies the application's debug mode. Cancellation
// and deadline of the call do not change.
func InitContext(main context.Context) grpc.UnaryServerInterceptor {
	return call.Unary(call.Context, call.Config{App: main})
}

// AccessLog logs each call after it completes: method, status, duration, the caller's
// address and name, the error code and the error message. Successful health checks and
// reflection calls are logged at level DEBUG. If log is nil, the logger GRPC is used.
func AccessLog(log *xlog.LogNamedLogger) grpc.UnaryServerInterceptor {
	return call.Unary(call.Access, call.Config{Log: log})
}

// Recover converts a panic to SERVER_INTERNAL_ERROR and logs the method, the panic value
// and the stack. The client receives only the request ID.
//
// Recover cannot recover panics in goroutines that the handler or an inner interceptor
// starts. runtime.Goexit in a handler is logged too, but the client gets no response and
// waits until its deadline.
func Recover() grpc.UnaryServerInterceptor { return call.Unary(call.Recover, call.Config{}) }

// Middleware runs the middleware that was registered for the service by
// middleware.UseUnary. If the chain returns neither a response nor an error, the call
// fails with DEVELOPER_ERROR.
func Middleware() grpc.UnaryServerInterceptor {
	return call.Unary(call.Middleware|call.RequireResponse, call.Config{})
}

// Validate rejects a request if its method ValidateAll or Validate returns an error, or
// if a check does. The call fails with PARAMETER_ERROR and one violation per field
// (google.rpc.BadRequest). See validation.Methods.
func Validate(checks ...validation.Check) grpc.UnaryServerInterceptor {
	return call.Unary(call.Validate, call.Config{Checks: checks})
}

// ResponseBuilder completes responses and converts errors. It must be the last
// interceptor of the chain.
//
// In a response it completes the field base_response, or the response itself if it is an
// xBase.BaseResponse: it sets the request ID and, in debug mode, the handling time in
// microseconds. A missing envelope becomes a success. A handler must therefore not return
// the same message to two calls.
//
// An *xerror.Error becomes a status with the code for its HTTP status and the envelope as
// a detail. A status is returned unchanged. Context errors keep their codes. Foreign
// errors have the code that their registered mapper assigns. Any other error becomes
// Internal, and its text is only logged. A call that returns neither a response nor an
// error fails with DEVELOPER_ERROR; nil pointers count as neither.
func ResponseBuilder() grpc.UnaryServerInterceptor {
	return call.Unary(call.Respond, call.Config{})
}
