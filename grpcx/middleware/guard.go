package middleware

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/grpcx/utility"
)

// Guard returns a unary and a stream middleware that both run before, so one function
// protects all methods of a service:
//
//	unary, stream := middleware.Guard(authenticate)
//	middleware.UseUnary(pb.UserService_ServiceDesc, unary)
//	middleware.UseStream(pb.UserService_ServiceDesc, stream)
//
// The function before returns the context for the handler, for example with the caller's
// identity, or the error of the call. For streams it runs once, before the handler. Guard
// panics if before is nil.
func Guard(
	before func(ctx context.Context) (context.Context, error),
) (grpc.UnaryServerInterceptor, grpc.StreamServerInterceptor) {
	if before == nil {
		panic("grpcx/middleware: Guard: the function is nil")
	}
	g := guard{before: before}
	return g.unary, g.stream
}

// guard implements the middleware of Guard.
type guard struct {
	before func(context.Context) (context.Context, error)
}

func (g guard) unary(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	ctx, err := g.before(ctx)
	if err != nil {
		return nil, err
	}
	return next(ctx, request)
}

func (g guard) stream(
	service any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	ctx, err := g.before(stream.Context())
	if err != nil {
		return err
	}
	return next(service, utility.WithContext(stream, ctx))
}
