package call

import (
	"context"
	"reflect"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/envelope"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// Unary returns a unary interceptor with these features.
func Unary(features Features, c Config) grpc.UnaryServerInterceptor {
	return newServer(features, c).unary
}

func (s *server) unary(
	outer context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (resp any, err error) {
	t, ctx := s.enter(outer, info)
	if t.features == 0 {
		return next(outer, req)
	}
	if t.features&Trace != 0 {
		// SetTrailer fails only if the context has no transport, as in a test of a single
		// interceptor.
		t.setTrailer(func(md metadata.MD) { _ = grpc.SetTrailer(outer, md) })
	}
	defer func() {
		if !t.returned && t.features&Recover != 0 {
			err = t.panicked(ctx, info.FullMethod, recover())
		}
		if err != nil {
			resp = nil
		}
		t.leave(ctx, info.FullMethod, nil, err)
	}()
	resp, err = t.serve(ctx, req, info, next)
	// ToStatus calls methods of err, which may panic.
	if err = rpcstatus.ToStatus(ctx, err); err == nil && t.features&RequireResponse != 0 {
		err = requireResponse(ctx, resp)
	}
	t.returned = true
	return resp, err
}

// serve runs the middleware chain of the service and the handler.
func (t *invocation) serve(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if t.features&Middleware != 0 {
		service := middleware.ExtractServiceName(info.FullMethod)
		if chain := t.chains().Unary(service); chain != nil {
			inner := *t // the chain may call next at any time
			return chain(ctx, req, info, func(ctx context.Context, req any) (any, error) {
				return inner.handle(ctx, req, next)
			})
		}
	}
	return t.handle(ctx, req, next)
}

// handle validates the request, calls the handler and completes the response.
func (t *invocation) handle(ctx context.Context, req any, next grpc.UnaryHandler) (any, error) {
	if t.features&Validate != 0 {
		if err := t.check(ctx, req); err != nil {
			return nil, rpcstatus.ToStatus(ctx, err)
		}
	}
	resp, err := next(ctx, req)
	if t.features&Respond == 0 {
		return resp, err
	}
	return t.respond(ctx, resp, err)
}

// respond converts err to a status, or completes the response.
func (t *invocation) respond(ctx context.Context, resp any, err error) (any, error) {
	if err = rpcstatus.ToStatus(ctx, err); err != nil {
		return nil, err
	}
	if err = requireResponse(ctx, resp); err != nil {
		return nil, err
	}
	if field := envelope.Of(reflect.TypeOf(resp)); field != nil {
		t.completeEnvelope(field, resp)
	}
	return resp, nil
}

// requireResponse returns an error if resp is nil or a nil pointer.
func requireResponse(ctx context.Context, resp any) error {
	v := reflect.ValueOf(resp)
	if v.IsValid() && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return nil
	}
	err := ctx.Err()
	if err == nil { // otherwise the handler may have stopped because of the context
		err = xerror.New(xerror.DeveloperError, "handler returned neither a response nor an error")
	}
	return rpcstatus.ToStatus(ctx, err)
}

// completeEnvelope completes the envelope of a response. A missing envelope becomes a
// success.
func (t *invocation) completeEnvelope(field *envelope.Field, resp any) {
	b := field.Get(resp)
	if b == nil {
		b = &generate.BaseResponse{}
	}
	if b.GetOutput() == "" && b.GetCode() == 0 {
		b.Output, b.Code = xbase.OutputSuccess, xbase.CodeSuccess
	}
	r := &t.call.request
	b.Context = r.ID()
	if r.Debug() {
		b.Overhead = new(overhead(r))
	}
	field.Set(resp, b) // b may be a copy
}
