package call

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// Stream returns the parts as an interceptor for streams. A stream has no response to
// complete.
func Stream(parts Part, c Config) grpc.StreamServerInterceptor {
	return newServer(parts&^(Respond|Answer), c).stream
}

// stream is a call's stream from one interceptor inwards.
type stream struct {
	grpc.ServerStream
	ctx context.Context // grpc's streams hold theirs

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

// checked is a stream whose messages are checked as they come.
type checked struct {
	grpc.ServerStream
	check validation.Check
}

// RecvMsg implements grpc.ServerStream. A message that is refused is an error that is a
// status already.
func (c *checked) RecvMsg(m any) error {
	if err := c.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	ctx := c.Context()
	return rpcstatus.Of(ctx, c.check(ctx, m))
}

func (s *server) stream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) (err error) {
	t, ctx := s.enter(ss.Context(), info)
	if t.parts == 0 {
		return next(srv, ss)
	}
	if t.parts&Trace != 0 {
		t.setTrailer(ss.SetTrailer)
	}
	own := &stream{ServerStream: ss, ctx: ctx}
	defer func() {
		if !t.returned && t.parts&Recover != 0 {
			err = t.panicked(ctx, info.FullMethod, recover())
		}
		t.leave(ctx, info.FullMethod, own, err)
	}()
	err = t.serveStream(srv, own, info, next)
	err = rpcstatus.Of(ctx, err) // it calls methods of the error, which may panic
	t.returned = true
	return err
}

// serveStream runs the chain of the service, where it has one, and the handler. Messages
// are checked inside the chain, as requests are, so that a check sees the context that
// the chain made.
func (t *turn) serveStream(
	srv any, ss grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler,
) error {
	handle := next
	if t.parts&Validate != 0 {
		handle = func(srv any, ss grpc.ServerStream) error {
			return next(srv, &checked{ServerStream: ss, check: t.check})
		}
	}
	if t.parts&Middleware != 0 {
		if chain := t.chains().Stream(
			middleware.ExtractServiceName(info.FullMethod)); chain != nil {
			return chain(srv, ss, info, handle)
		}
	}
	return handle(srv, ss)
}
