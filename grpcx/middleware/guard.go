package middleware

import (
	"context"

	"google.golang.org/grpc"

	xGrpcUtil "github.com/plinthgo/plinth/grpcx/utility"
)

// Guard makes middlewares of either kind of one function, so that what protects a service's unary methods protects its
// streams as well:
//
//	unary, stream := xGrpcMiddle.Guard(authenticate)
//	xGrpcMiddle.UseUnary(pb.UserService_ServiceDesc, unary)
//	xGrpcMiddle.UseStream(pb.UserService_ServiceDesc, stream)
//
// The function returns the context for what follows, which may carry who calls, or the error with which the call is
// refused. A stream is judged once, when it opens.
func Guard(before func(ctx context.Context) (context.Context, error)) (grpc.UnaryServerInterceptor, grpc.StreamServerInterceptor) {
	if before == nil {
		panic("xgrpcmiddle: Guard: the function is nil")
	}
	unary := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		ctx, err := before(ctx)
		if err != nil {
			return nil, err
		}
		return next(ctx, request)
	}
	stream := func(service any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx, err := before(ss.Context())
		if err != nil {
			return err
		}
		return next(service, xGrpcUtil.WithContext(ss, ctx))
	}
	return unary, stream
}
