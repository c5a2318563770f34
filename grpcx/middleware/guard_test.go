package middleware_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// contextStream is a stream that only implements Context.
type contextStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s contextStream) Context() context.Context { return s.ctx }

type callerKey struct{}

func TestGuard(t *testing.T) {
	t.Run("protects unary and streaming methods", func(t *testing.T) {
		unary, stream := middleware.Guard(func(ctx context.Context) (context.Context, error) {
			if ctx.Value(callerKey{}) == nil {
				return nil, xerror.New(xerror.Unauthorized, "")
			}
			return context.WithValue(ctx, callerKey{}, "ada"), nil
		})
		var seen []any
		call := func(ctx context.Context) (failures []error) {
			_, err := unary(ctx, nil, info, func(ctx context.Context, _ any) (any, error) {
				seen = append(seen, ctx.Value(callerKey{}))
				return nil, nil
			})
			failures = append(failures, err)
			return append(failures, stream(nil, contextStream{ctx: ctx}, &grpc.StreamServerInfo{},
				func(_ any, ss grpc.ServerStream) error {
					seen = append(seen, ss.Context().Value(callerKey{}))
					return nil
				}))
		}
		for _, err := range call(t.Context()) {
			if !errors.Is(err, xerror.Unauthorized) {
				t.Errorf("call without credentials = %v, want Unauthorized", err)
			}
		}
		if len(seen) > 0 {
			t.Errorf("the handler was called without credentials")
		}
		for _, err := range call(context.WithValue(t.Context(), callerKey{}, "ada")) {
			if err != nil {
				t.Errorf("call with credentials = %v, want nil", err)
			}
		}
		if len(seen) != 2 || seen[0] != "ada" || seen[1] != "ada" {
			t.Errorf("callers in the handlers = %v, want ada twice", seen)
		}
	})

	t.Run("panics on a nil function", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("Guard(nil) did not panic")
			}
		}()
		middleware.Guard(nil)
	})
}
