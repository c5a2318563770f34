package middleware_test

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// opened is a stream that has nothing but its context.
type opened struct {
	grpc.ServerStream
	ctx context.Context // as a stream's
}

func (o opened) Context() context.Context { return o.ctx }

type callerKey struct{}

func TestAGuardProtectsBothKindsAndHandsOnWhoCalls(t *testing.T) {
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
		return append(failures, stream(nil, opened{ctx: ctx}, &grpc.StreamServerInfo{},
			func(_ any, ss grpc.ServerStream) error {
				seen = append(seen, ss.Context().Value(callerKey{}))
				return nil
			}))
	}
	for _, err := range call(t.Context()) {
		if !errors.Is(err, xerror.Unauthorized) {
			t.Errorf("a stranger's call = %v, want Unauthorized", err)
		}
	}
	if len(seen) > 0 {
		t.Errorf("the handler was called for a stranger")
	}
	for _, err := range call(context.WithValue(t.Context(), callerKey{}, "someone")) {
		if err != nil {
			t.Errorf("call = %v", err)
		}
	}
	if len(seen) != 2 || seen[0] != "ada" || seen[1] != "ada" {
		t.Errorf("the handlers saw %v, want ada twice", seen)
	}
}

func TestAGuardWithoutAFunctionPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Guard(nil) did not panic")
		}
	}()
	middleware.Guard(nil)
}
