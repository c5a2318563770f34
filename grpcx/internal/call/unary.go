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

// Unary returns the parts as an interceptor for unary calls.
func Unary(parts Part, c Config) grpc.UnaryServerInterceptor { return newServer(parts, c).unary }

func (s *server) unary(
	outer context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (resp any, err error) {
	t, ctx := s.enter(outer, info)
	if t.parts == 0 {
		return next(outer, req)
	}
	if t.parts&Trace != 0 {
		// It fails only without a transport, as in a test of a single interceptor; the
		// call itself is fine.
		t.setTrailer(func(md metadata.MD) { _ = grpc.SetTrailer(outer, md) })
	}
	defer func() {
		if !t.returned && t.parts&Recover != 0 {
			err = t.panicked(ctx, info.FullMethod, recover())
		}
		if err != nil {
			resp = nil
		}
		t.leave(ctx, info.FullMethod, nil, err)
	}()
	resp, err = t.serve(ctx, req, info, next)
	// it calls methods of the error, which may panic
	if err = rpcstatus.Of(ctx, err); err == nil && t.parts&Answer != 0 {
		err = answered(ctx, resp)
	}
	t.returned = true
	return resp, err
}

// serve runs the chain of the service, where it has one, and the handler.
func (t *turn) serve(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	if t.parts&Middleware != 0 {
		if chain := t.chains().Unary(middleware.ExtractServiceName(info.FullMethod)); chain != nil {
			inner := *t // the chain may call its next one at any time
			return chain(ctx, req, info, func(ctx context.Context, req any) (any, error) {
				return inner.handle(ctx, req, next)
			})
		}
	}
	return t.handle(ctx, req, next)
}

// handle checks the request, calls the handler and completes its response.
func (t *turn) handle(ctx context.Context, req any, next grpc.UnaryHandler) (any, error) {
	if t.parts&Validate != 0 {
		if err := t.check(ctx, req); err != nil {
			return nil, rpcstatus.Of(ctx, err)
		}
	}
	resp, err := next(ctx, req)
	if t.parts&Respond == 0 {
		return resp, err
	}
	return t.respond(ctx, resp, err)
}

// respond turns an error into its status and completes a response.
func (t *turn) respond(ctx context.Context, resp any, err error) (any, error) {
	if err = rpcstatus.Of(ctx, err); err != nil {
		return nil, err
	}
	if err = answered(ctx, resp); err != nil {
		return nil, err
	}
	if field := envelope.Of(reflect.TypeOf(resp)); field != nil {
		t.fill(field, resp)
	}
	return resp, nil
}

// answered returns the status of a call that has neither a response nor an error; a nil
// pointer is none.
func answered(ctx context.Context, resp any) error {
	v := reflect.ValueOf(resp)
	if v.IsValid() && (v.Kind() != reflect.Pointer || !v.IsNil()) {
		return nil
	}
	err := ctx.Err()
	if err == nil { // else it gave up because the call was over
		err = xerror.New(xerror.DeveloperError, "there is neither a response nor an error")
	}
	return rpcstatus.Of(ctx, err)
}

// fill completes the envelope of a response; one that the handler left out says success.
func (t *turn) fill(field *envelope.Field, resp any) {
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
	field.Set(resp, b) // of some messages b is a copy
}
