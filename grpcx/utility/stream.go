package utility

import (
	"context"

	"google.golang.org/grpc"
)

// WithContext returns stream with the context ctx, for middleware that adds values.
// Derive ctx from the stream's context.
func WithContext(stream grpc.ServerStream, ctx context.Context) grpc.ServerStream { //nolint:revive // context-as-argument: the stream is what is changed
	return &streamContext{ServerStream: stream, ctx: ctx}
}

type streamContext struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s *streamContext) Context() context.Context { return s.ctx }
