package call_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	"github.com/plinthgo/plinth/grpcx/internal/call/calltest"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// countingMiddleware returns a registry with middleware that counts calls.
func countingMiddleware() (*middleware.Registry, *atomic.Int64) {
	var n atomic.Int64
	r := new(middleware.Registry)
	r.UseUnary(&pb.TestService_ServiceDesc, func(
		ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		n.Add(1)
		return next(ctx, req)
	})
	r.UseStream(&pb.TestService_ServiceDesc, func(
		srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
	) error {
		n.Add(1)
		return next(srv, ss)
	})
	return r, &n
}

func TestFeatures(t *testing.T) {
	t.Run("runs a feature once if it is mounted twice", func(t *testing.T) {
		registry, runs := countingMiddleware()
		first := context.WithValue(t.Context(), xctx.RegNodeKey, "first")
		second := context.WithValue(context.WithValue(t.Context(), xctx.RegNodeKey, "second"),
			xctx.DebugKey, true)
		c := call.Config{App: first, Registry: registry}
		repeated := call.Config{App: second, Registry: registry}
		var unary []grpc.UnaryServerInterceptor
		var stream []grpc.StreamServerInterceptor
		for _, p := range order {
			unary = append(unary, call.Unary(p, c), call.Unary(p, repeated))
			stream = append(stream, call.Stream(p, c), call.Stream(p, repeated))
		}
		unary = append(unary, call.Unary(all, repeated))
		stream = append(stream, call.Stream(all, repeated))
		log, service := calltest.Record(t), &calltest.Service{}
		client := pb.NewTestServiceClient(calltest.Serve(t, service,
			grpc.ChainUnaryInterceptor(unary...), grpc.ChainStreamInterceptor(stream...)))
		f := &fixture{T: t, log: log, service: service, client: client}
		for _, kind := range kinds {
			t.Run(kind.name, func(t *testing.T) {
				runs.Store(0)
				inner := &fixture{T: t, log: calltest.Record(t), service: service, client: client}
				var node any
				f.setHandlers(func(ctx context.Context) error {
					node = ctx.Value(xctx.RegNodeKey)
					return nil
				})
				a := kind.call(t.Context(), inner)
				if a.err != nil || runs.Load() != 1 || node != "first" ||
					a.responses[0].GetBaseResponse().GetOverhead() != 0 {
					t.Errorf("err = %v, middlewares ran %d times, node = %v, response %v",
						a.err, runs.Load(), node, a.responses)
				}
				if id := a.id(t); inner.log.Only("call")["request_id"] != id {
					t.Errorf("id = %s, log:\n%s", id, inner.log)
				}
				f.setHandlers(func(context.Context) error { panic(secret) })
				panicked := &fixture{
					T: t, log: calltest.Record(t), service: service, client: client,
				}
				panicked.wantInternal(kind.call(t.Context(), panicked), secret)
			})
		}
	})

	t.Run("supports an interceptor that calls next twice", func(t *testing.T) {
		registry, authentications := rejectingMiddleware()
		var errs []error
		retry := func(
			ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
		) (any, error) {
			first, err := next(ctx, req)
			errs = append(errs, err)
			_, err = next(ctx, req)
			errs = append(errs, err)
			return first, nil
		}
		inAllForms(t, call.Config{Registry: registry},
			appInterceptors{unary: []grpc.UnaryServerInterceptor{retry}}, func(f *fixture) {
				errs = nil
				authentications.Store(0)
				var handled int
				f.setHandlers(func(context.Context) error {
					handled++
					return nil
				})
				a := unaryOf(f.Context(), f.client)
				if a.err != nil || authentications.Load() != 2 || handled != 1 || len(errs) != 2 ||
					errs[0] != nil || !errors.Is(errs[1], xerror.Unauthorized) {
					f.Errorf("err = %v, authentication ran %d times, the handler %d, errors %v",
						a.err, authentications.Load(), handled, errs)
				}
				if a.responses[0].GetBaseResponse().GetContext() != a.id(f.T) {
					f.Errorf("response = %v", a.responses[0])
				}
				f.log.Only("call")
			})
	})

	t.Run("supports an interceptor that calls next concurrently", func(t *testing.T) {
		registry, authentications := rejectingMiddleware()
		inAllForms(t, call.Config{Registry: registry},
			appInterceptors{unary: []grpc.UnaryServerInterceptor{hedge}}, func(f *fixture) {
				authentications.Store(0)
				var handled atomic.Int64
				f.setHandlers(func(context.Context) error {
					handled.Add(1)
					return nil
				})
				a := unaryOf(f.Context(), f.client)
				if a.err != nil || authentications.Load() != 2 || handled.Load() != 1 ||
					a.responses[0].GetBaseResponse().GetContext() != a.id(f.T) {
					f.Errorf("got %v, %v; authentication ran %d times, the handler %d",
						a.responses, a.err, authentications.Load(), handled.Load())
				}
			})
	})

	// The ID is assigned inside the hedging interceptor, after an outer interceptor
	// created the call.
	t.Run("assigns one ID to concurrent attempts", func(t *testing.T) {
		log, service := calltest.Record(t), &calltest.Service{}
		var ids sync.Map
		service.OnUnary = func(ctx context.Context, _ *pb.TestRequest) (*pb.TestResponse, error) {
			ids.Store(ctx.Value(xctx.RequestKey), ctx.Value(xctx.RegNodeKey))
			return &pb.TestResponse{}, nil
		}
		app := context.WithValue(t.Context(), xctx.RegNodeKey, "node")
		client := pb.NewTestServiceClient(calltest.Serve(t, service, grpc.ChainUnaryInterceptor(
			call.Unary(call.Access, call.Config{}), hedge, call.Unary(all, call.Config{App: app}),
		)))
		response, err := client.Unary(t.Context(), &pb.TestRequest{})
		if err != nil {
			t.Fatal(err)
		}
		id := log.Only("call")["request_id"]
		if node, ok := ids.Load(id); !ok || node != "node" ||
			response.GetBaseResponse().GetContext() != id {
			t.Errorf("response = %v, id of the log = %v", response, id)
		}
		n := 0
		ids.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			t.Errorf("%d ids, want 1", n)
		}
	})

	// The handler calls another method of the same server with its context.
	t.Run("treats a nested call as a separate call", func(t *testing.T) {
		registry, runs := countingMiddleware()
		chain := call.Unary(all, call.Config{Registry: registry})
		inAllForms(t, call.Config{Registry: registry}, appInterceptors{}, func(f *fixture) {
			runs.Store(0)
			var outer, inner string
			f.setHandlers(func(ctx context.Context) error {
				outer, _ = ctx.Value(xctx.RequestKey).(string)
				nested := incoming(ctx, "x_request_uuid", "inner-id")
				info := &grpc.UnaryServerInfo{FullMethod: pb.TestService_UnarySafe_FullMethodName}
				response, err := chain(nested, &pb.TestRequest{}, info,
					func(ctx context.Context, _ any) (any, error) {
						inner, _ = ctx.Value(xctx.RequestKey).(string)
						return &pb.TestResponse{}, nil
					})
				if err != nil ||
					response.(*pb.TestResponse).GetBaseResponse().GetContext() != "inner-id" {
					f.Errorf("response of the inner call = %v, %v; want inner-id", response, err)
				}
				return nil
			})
			a := unaryOf(f.Context(), f.client)
			if a.err != nil || a.id(f.T) != outer || inner != "inner-id" ||
				runs.Load() != 2 {
				f.Errorf("err = %v, ids %s, %s and %s, middlewares ran %d times",
					a.err, a.id(f.T), outer, inner, runs.Load())
			}
			if lines := f.log.Lines("call"); len(lines) != 2 ||
				lines[0]["method"] != pb.TestService_UnarySafe_FullMethodName ||
				lines[1]["request_id"] != outer {
				f.Errorf("lines = %v", lines)
			}
		})
	})
}

// rejectingMiddleware returns a registry with middleware that rejects every second call,
// and the number of calls.
func rejectingMiddleware() (*middleware.Registry, *atomic.Int64) {
	var n atomic.Int64
	r := new(middleware.Registry)
	r.UseUnary(&pb.TestService_ServiceDesc, func(
		ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
	) (any, error) {
		if n.Add(1)%2 == 0 {
			return nil, xerror.New(xerror.Unauthorized, "")
		}
		return next(ctx, req)
	})
	return r, &n
}

// hedge calls next twice concurrently and waits for both.
func hedge(
	ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	var both sync.WaitGroup
	var responses [2]any
	var errs [2]error
	for i := range responses {
		both.Go(func() { responses[i], errs[i] = next(ctx, req) })
	}
	both.Wait()
	for i, err := range errs {
		if err == nil {
			return responses[i], nil
		}
	}
	return nil, errors.Join(errs[:]...)
}
