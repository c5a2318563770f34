package runner

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errStopping is the status of health watches and reflection streams at shutdown.
var errStopping = status.Error(codes.Unavailable, "server is shutting down")

// endReflection returns an interceptor that stops reflection streams when stopping is
// canceled. Clients keep these streams open, which would delay the graceful shutdown. It
// must be the outermost interceptor: a blocked RecvMsg cannot be interrupted, only
// abandoned, so it must not involve another interceptor's stream.
func endReflection(stopping context.Context) grpc.StreamServerInterceptor {
	return func(srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo,
		next grpc.StreamHandler,
	) error {
		if strings.HasPrefix(info.FullMethod, "/grpc.reflection.") {
			ss = &endingStream{ServerStream: ss, stopping: stopping.Done()}
		}
		return next(srv, ss)
	}
}

// endingStream is a stream whose RecvMsg fails during shutdown.
type endingStream struct {
	grpc.ServerStream
	stopping <-chan struct{}
}

// RecvMsg implements grpc.ServerStream. After an error the caller must not access m,
// because the abandoned receive may still write to it.
func (e *endingStream) RecvMsg(m any) error {
	received := make(chan error, 1)
	go func() { received <- e.ServerStream.RecvMsg(m) }()
	select {
	case err := <-received:
		return err
	case <-e.stopping:
		return errStopping
	}
}
