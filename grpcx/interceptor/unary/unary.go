// Package unary holds the interceptors for unary calls.
//
// The order of a chain, first to last: Trace, InitContext, AccessLog, Recover,
// Middleware, Validate, ResponseBuilder. The runner mounts all of them by itself, the
// first four around and the last three inside the application's own interceptors; who
// serves without the runner chains them:
//
//	grpc.ChainUnaryInterceptor(
//		unary.Trace(), unary.InitContext(ctx), unary.AccessLog(nil), unary.Recover(),
//		unary.Middleware(), unary.Validate(), unary.ResponseBuilder(),
//	)
//
// An interceptor that is mounted a second time around the same call does nothing, but for
// two: a second Recover guards the goroutine that it runs in, and a second Validate adds
// its checks. One of the application's in between may call the next one more than once,
// also at the same time. An error that leaves any of them is a gRPC status: see
// ResponseBuilder for how errors are mapped. Everything here is safe for concurrent use.
package unary

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Trace gives every call a request id and a start time.
//
// The id is the caller's x_request_uuid, or x-request-uuid, where that is 1 to 64
// characters of [A-Za-z0-9._-], else a new UUID. It is stored under xctx.RequestKey, the
// start under xctx.UserStartTimeKey. The id goes back in the trailer x_request_uuid, also
// when the handler fails or panics.
func Trace() grpc.UnaryServerInterceptor { return call.Unary(call.Trace, call.Config{}) }

// InitContext lets every call see what main carries, the application's context: its
// nodes, database, cache and logger. Cancellation and deadline stay the call's own. It
// also tells the call whether the application is in debug mode.
func InitContext(main context.Context) grpc.UnaryServerInterceptor {
	return call.Unary(call.Context, call.Config{App: main})
}

// AccessLog writes one line for each call when it has been answered: method, status,
// duration, the address and the name of the caller, the error's number and message.
// Successful health checks and reflection are written at level DEBUG. A nil log is the
// logger GRPC.
func AccessLog(log *xlog.LogNamedLogger) grpc.UnaryServerInterceptor {
	return call.Unary(call.Access, call.Config{Log: log})
}

// Recover turns a panic into SERVER_INTERNAL_ERROR, and logs the method, what was passed
// to panic, and the stack. The caller is told nothing of it but the request id.
//
// A panic in a goroutine that the handler, or an interceptor further in, has started is
// out of its reach. A handler that calls runtime.Goexit is logged in the same way, but
// nothing can answer its caller, who waits for the deadline.
func Recover() grpc.UnaryServerInterceptor { return call.Unary(call.Recover, call.Config{}) }

// Middleware runs the chain that middleware.UseUnary has registered for the call's
// service. One that returns neither a response nor an error has not let the call in: that
// is DEVELOPER_ERROR.
func Middleware() grpc.UnaryServerInterceptor {
	return call.Unary(call.Middleware|call.RequireResponse, call.Config{})
}

// Validate refuses a request whose method Validate, or ValidateAll, returns an error, and
// then one to which a check objects. The answer is PARAMETER_ERROR with one violation for
// each field (google.rpc.BadRequest). See validation.Methods.
func Validate(checks ...validation.Check) grpc.UnaryServerInterceptor {
	return call.Unary(call.Validate, call.Config{Checks: checks})
}

// ResponseBuilder completes what the handler returns. It must be the last of the chain.
//
// In a response, the field base_response (or the response itself, where it is an
// xBase.BaseResponse) gets the request id and, in debug mode, the handling time in
// microseconds; one that the handler left out says success. So a handler must not return
// the same message to two calls.
//
// An error becomes a status: an *xerror.Error by the HTTP status of its code, with the
// envelope as a detail; the handler's own status unchanged; the context's errors with
// their codes; a foreign error that a mapper knows by the code that it is given; any
// other as Internal without its text, which is logged. Neither a response nor an error is
// DEVELOPER_ERROR, and nil pointers are neither.
func ResponseBuilder() grpc.UnaryServerInterceptor {
	return call.Unary(call.Respond, call.Config{})
}
