package call

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Stream returns a stream interceptor with these features. Respond and RequireResponse
// apply to unary calls only.
func Stream(features Features, c Config) grpc.StreamServerInterceptor {
	return newServer(features&^(Respond|RequireResponse), c).stream
}

// stream is a server stream with the call's context and message counters.
type stream struct {
	grpc.ServerStream
	ctx context.Context

	received, sent atomic.Int64
}

// Context implements grpc.ServerStream.
func (s *stream) Context() context.Context { return s.ctx }

// RecvMsg implements grpc.ServerStream.
func (s *stream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.received.Add(1)
	}
	return err
}

// SendMsg implements grpc.ServerStream.
func (s *stream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		s.sent.Add(1)
	}
	return err
}

// validatedStream validates the messages that it receives.
type validatedStream struct {
	grpc.ServerStream
	check validation.Check
}

// RecvMsg implements grpc.ServerStream. A validation error is returned as a status.
func (c *validatedStream) RecvMsg(m any) error {
	if err := c.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	ctx := c.Context()
	return rpcstatus.ToStatus(ctx, c.check(ctx, m))
}

func (s *server) stream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) (err error) {
	t, ctx := s.enter(ss.Context(), info)
	if t.features == 0 {
		return next(srv, ss)
	}
	if t.features&Trace != 0 {
		t.setTrailer(ss.SetTrailer)
	}
	wrapped := &stream{ServerStream: ss, ctx: ctx}
	defer func() {
		if !t.returned && t.features&Recover != 0 {
			err = t.panicked(ctx, info.FullMethod, recover())
		}
		t.leave(ctx, info.FullMethod, wrapped, err)
	}()
	err = t.serveStream(srv, wrapped, info, next)
	err = rpcstatus.ToStatus(ctx, err) // ToStatus calls methods of err, which may panic.
	t.returned = true
	return err
}

// serveStream runs the middleware chain of the service and the handler. Messages are
// validated inside the chain, so checks see the context that the chain created.
func (t *invocation) serveStream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	handle := next
	if t.features&Validate != 0 {
		handle = func(srv any, ss grpc.ServerStream) error {
			return next(srv, &validatedStream{ServerStream: ss, check: t.check})
		}
	}
	if t.features&Middleware != 0 {
		service := middleware.ExtractServiceName(info.FullMethod)
		if chain := t.chains().Stream(service); chain != nil {
			return chain(srv, ss, info, handle)
		}
	}
	return handle(srv, ss)
}
