package runner

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errStopping ends the streams that are the server's own: watches of health and
// reflection.
var errStopping = status.Error(codes.Unavailable, "the server is stopping")

// endReflection returns an interceptor that ends streams of reflection when stopping
// does: a client keeps one open as long as it lives, which would hold up the graceful
// stop. It stands outside all others, since a stream's wait for the next question can
// only be left and not ended, and then no interceptor's stream may be part of that wait.
func endReflection(stopping context.Context) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
		next grpc.StreamHandler,
	) error {
		if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") {
			ss = &ending{ServerStream: ss, stopping: stopping.Done()}
		}
		return next(srv, ss)
	}
}

// ending is a stream on which nothing more is received when the server stops.
type ending struct {
	grpc.ServerStream
	stopping <-chan struct{}
}

// RecvMsg implements grpc.ServerStream. After its error m must not be touched: the wait
// for it ends with the stream.
func (e *ending) RecvMsg(m any) error {
	received := make(chan error, 1)
	go func() { received <- e.ServerStream.RecvMsg(m) }()
	select {
	case err := <-received:
		return err
	case <-e.stopping:
		return errStopping
	}
}
