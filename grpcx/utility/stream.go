package utility

import (
	"context"

	"google.golang.org/grpc"
)

// WithContext returns the stream with another context, for a middleware that hands
// something on. The context is made of the stream's own.
func WithContext(stream grpc.ServerStream, ctx context.Context) grpc.ServerStream { //nolint:revive // context-as-argument: the stream is what is changed
	return &streamContext{ServerStream: stream, ctx: ctx}
}

// streamContext is a stream with another context.
type streamContext struct {
	grpc.ServerStream
	ctx context.Context // grpc's streams hold theirs
}

// Context implements grpc.ServerStream.
func (s *streamContext) Context() context.Context { return s.ctx }
