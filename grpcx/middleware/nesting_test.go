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
		retry := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
			next grpc.UnaryHandler,
		) (any, error) {
			for {
				if response, err := next(ctx, request); err == nil {
					return response, nil
				}
			}
		}
		count := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo,
			next grpc.UnaryHandler,
		) (any, error) {
			inner++
			return next(ctx, request)
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, passThrough, retry, count, passThrough)
		got, err := r.Unary(service)(t.Context(), "request",
			info, func(_ context.Context, request any) (any, error) {
				if handled++; handled < 3 {
					return nil, errors.New("not yet")
				}
				return request, nil
			})
		if got != "request" || err != nil || inner != 3 || handled != 3 {
			t.Errorf("response = %v, %v after %d and %d calls, want 3 and 3",
				got, err, inner, handled)
		}
	})

	t.Run("may call the next handler concurrently", func(t *testing.T) {
		const calls = 8
		hedge := func(ctx context.Context, _ any, _ *grpc.UnaryServerInfo,
			next grpc.UnaryHandler) (any,
			error,
		) {
			answers := make([]any, calls)
			var wg sync.WaitGroup
			for i := range calls {
				wg.Go(func() { answers[i], _ = next(ctx, i) })
			}
			wg.Wait()
			return answers, nil
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, hedge, passThrough, passThrough)
		got, err := r.Unary(service)(t.Context(), nil, info, echo)
		if diff := cmp.Diff([]any{0, 1, 2, 3, 4, 5, 6, 7}, got); diff != "" || err != nil {
			t.Errorf("responses (-want +got), error %v:\n%s", err, diff)
		}
	})

	t.Run("may return without calling the next handler", func(t *testing.T) {
		errRejected := errors.New("rejected")
		refuse := func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any,
			error,
		) {
			return nil, errRejected
		}
		// not called
		unreached := func(context.Context, any) (any, error) {
			t.Error("the handler ran")
			return nil, nil
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, passThrough, refuse, passThrough)
		if _, err := r.Unary(service)(t.Context(), nil, info, unreached); !errors.Is(err,
			errRejected) {
			t.Errorf("error = %v, want %v", err, errRejected)
		}
	})

	t.Run("may change context and request", func(t *testing.T) {
		type key struct{}
		change := func(ctx context.Context, request any, info *grpc.UnaryServerInfo,
			next grpc.UnaryHandler,
		) (any, error) {
			text, _ := request.(string)
			return next(context.WithValue(ctx, key{}, info.FullMethod), text+"!")
		}
		var r middleware.Registry
		r.UseUnary(&pb.TestService_ServiceDesc, change, change)
		got, err := r.Unary(service)(t.Context(), "request",
			info, func(ctx context.Context, request any) (any, error) {
				if method := ctx.Value(key{}); method != info.FullMethod {
					t.Errorf("value in the context = %v, want %s", method, info.FullMethod)
				}
				return request, nil
			})
		if got != "request!!" || err != nil {
			t.Errorf("response = %v, %v", got, err)
		}
	})
}
