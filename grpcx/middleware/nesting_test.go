package middleware_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"

	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

func TestMiddleware(t *testing.T) {
	t.Run("may retry the next handler", func(t *testing.T) {
		var inner, handled int
		retry := func(
			ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			for {
				if response, err := next(ctx, request); err == nil {
					return response, nil
				}
			}
		}
		count := func(
			ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			inner++
			return next(ctx, request)
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, passThrough, retry, count, passThrough)
		handler := func(_ context.Context, request any) (any, error) {
			if handled++; handled < 3 {
				return nil, errors.New("not yet")
			}
			return request, nil
		}
		got, err := r.Unary(service)(t.Context(), "request", info, handler)
		if got != "request" || err != nil || inner != 3 || handled != 3 {
			t.Errorf("response = %v, %v; inner calls = %d, handler calls = %d, want 3 and 3",
				got, err, inner, handled)
		}
	})

	t.Run("may call the next handler concurrently", func(t *testing.T) {
		const calls = 8
		callConcurrently := func(
			ctx context.Context, _ any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			responses := make([]any, calls)
			var wg sync.WaitGroup
			for i := range calls {
				wg.Go(func() { responses[i], _ = next(ctx, i) })
			}
			wg.Wait()
			return responses, nil
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, callConcurrently, passThrough, passThrough)
		got, err := r.Unary(service)(t.Context(), nil, info, echo)
		if diff := cmp.Diff([]any{0, 1, 2, 3, 4, 5, 6, 7}, got); diff != "" || err != nil {
			t.Errorf("responses (-want +got), error %v:\n%s", err, diff)
		}
	})

	t.Run("may return without calling the next handler", func(t *testing.T) {
		errRejected := errors.New("rejected")
		reject := func(
			context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler,
		) (any, error) {
			return nil, errRejected
		}
		handler := func(context.Context, any) (any, error) {
			t.Error("the handler ran")
			return nil, nil
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, passThrough, reject, passThrough)
		_, err := r.Unary(service)(t.Context(), nil, info, handler)
		if !errors.Is(err, errRejected) {
			t.Errorf("error = %v, want %v", err, errRejected)
		}
	})

	t.Run("may change context and request", func(t *testing.T) {
		type key struct{}
		change := func(
			ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			text, _ := request.(string)
			return next(context.WithValue(ctx, key{}, info.FullMethod), text+"!")
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, change, change)
		handler := func(ctx context.Context, request any) (any, error) {
			if method := ctx.Value(key{}); method != info.FullMethod {
				t.Errorf("value in the context = %v, want %s", method, info.FullMethod)
			}
			return request, nil
		}
		got, err := r.Unary(service)(t.Context(), "request", info, handler)
		if got != "request!!" || err != nil {
			t.Errorf("response = %v, %v", got, err)
		}
	})
}
