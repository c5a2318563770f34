package middleware

import (
	"context"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/grpcx/utility"
)

// Guard makes middlewares of either kind of one function, so that what protects a
// service's unary methods protects its streams as well:
//
//	unary, stream := middleware.Guard(authenticate)
//	middleware.UseUnary(pb.UserService_ServiceDesc, unary)
//	middleware.UseStream(pb.UserService_ServiceDesc, stream)
//
// The function returns the context for what follows, which may carry who calls, or the
// error with which the call is refused. A stream is judged once, when it opens.
func Guard(
	before func(ctx context.Context) (context.Context, error),
) (grpc.UnaryServerInterceptor, grpc.StreamServerInterceptor) {
	if before == nil {
		panic("grpcx/middleware: Guard: the function is nil")
	}
	g := guard{before: before}
	return g.unary, g.stream
}

// guard is a Guard's function as a middleware of either kind.
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
