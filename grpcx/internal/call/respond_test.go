package call_test

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/call"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
)

// runChain runs the chain without a server. The handler returns response, which may have
// any type.
func runChain(t *testing.T, response any) (any, error) {
	t.Helper()
	chain := call.Unary(all, call.Config{})
	ctx := incoming(t.Context(), "x_request_uuid", "abc")
	return chain(ctx, &pb.TestRequest{}, &grpc.UnaryServerInfo{FullMethod: unaryMethod},
		func(context.Context, any) (any, error) { return response, nil })
}

func TestRespond(t *testing.T) {
	t.Run("completes the envelope", func(t *testing.T) {
		success := &generate.BaseResponse{Context: "abc", Output: "Success", Code: 200}
		custom := &generate.BaseResponse{
			Context: "forged", Output: "Accepted", Code: 202, Message: "later",
			ErrorMessage: new("x"),
		}
		for _, tc := range []struct {
			name     string
			response proto.Message
			want     proto.Message
		}{
			{
				name: "missing envelope", response: &pb.TestResponse{Text: "x"},
				want: &pb.TestResponse{Text: "x", BaseResponse: success},
			},
			{
				name: "empty", response: &pb.TestResponse{BaseResponse: &generate.BaseResponse{}},
				want: &pb.TestResponse{BaseResponse: success},
			},
			{
				name: "custom", response: &pb.TestResponse{BaseResponse: custom},
				want: &pb.TestResponse{BaseResponse: &generate.BaseResponse{
					Context: "abc", Output: "Accepted", Code: 202, Message: "later",
					ErrorMessage: new("x"),
				}},
			},
			{
				name: "the envelope itself", response: &generate.BaseResponse{Message: "m"},
				want: &generate.BaseResponse{
					Context: "abc", Output: "Success", Code: 200, Message: "m",
				},
			},
			{
				name: "message without the field", response: &pb.WithoutEnvelope{Text: "x"},
				want: &pb.WithoutEnvelope{Text: "x"},
			},
			{
				name:     "field of another type",
				response: &pb.ScalarType{BaseResponse: "x"},
				want:     &pb.ScalarType{BaseResponse: "x"},
			},
			{
				name:     "oneof with another member",
				response: &pb.OneofType{Result: &pb.OneofType_Text{Text: "x"}},
				want:     &pb.OneofType{Result: &pb.OneofType_Text{Text: "x"}},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := runChain(t, tc.response)
				if err != nil || !proto.Equal(got.(proto.Message), tc.want) {
					t.Errorf("got %v, %v, want %v", got, err, tc.want)
				}
			})
		}
	})

	t.Run("rejects nil responses of a handler", func(t *testing.T) {
		for name, response := range map[string]any{
			"nil":            nil,
			"a nil response": (*pb.TestResponse)(nil),
			"a nil envelope": (*generate.BaseResponse)(nil),
		} {
			t.Run(name, func(t *testing.T) {
				got, err := runChain(t, response)
				if got != nil || err == nil ||
					envelopeOf(t, err).GetOutput() != xerror.DeveloperError.GetOutput() {
					t.Errorf("got %v, %v, want DEVELOPER_ERROR", got, err)
				}
			})
		}
	})

	t.Run("rejects nil responses of middleware and interceptors", func(t *testing.T) {
		for name, response := range map[string]any{
			"nil":            nil,
			"a nil response": (*pb.TestResponse)(nil),
		} {
			returnNil := func(
				context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler,
			) (any, error) { //nolint:unparam // the type of an interceptor
				return response, nil
			}
			t.Run("middleware, "+name, func(t *testing.T) {
				registry := &middleware.Registry{}
				registry.UseUnary(&pb.TestService_ServiceDesc, returnNil)
				inAllForms(t, call.Config{Registry: registry}, appInterceptors{}, func(f *fixture) {
					err := unaryOf(f.Context(), f.client).err
					if envelopeOf(f.T, err).GetOutput() != xerror.DeveloperError.GetOutput() {
						f.Errorf("err = %v, want DEVELOPER_ERROR", err)
					}
				})
			})
			t.Run("interceptor, "+name, func(t *testing.T) {
				chain := call.Unary(call.Outer, call.Config{})
				_, err := chain(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: unaryMethod},
					func(ctx context.Context, req any) (any, error) {
						return returnNil(ctx, req, nil, nil)
					})
				if envelopeOf(t, err).GetOutput() != xerror.DeveloperError.GetOutput() {
					t.Errorf("err = %v, want DEVELOPER_ERROR", err)
				}
			})
		}
	})

	t.Run("sets the overhead in debug mode only", func(t *testing.T) {
		for _, debug := range []bool{false, true} {
			app := context.WithValue(t.Context(), xctx.DebugKey, debug) // as xreg sets it
			inAllForms(t, call.Config{App: app}, appInterceptors{}, func(f *fixture) {
				b := unaryOf(f.Context(), f.client).responses[0].GetBaseResponse()
				if (b.GetOverhead() > 0) != debug || (b.Overhead != nil) != debug {
					f.Errorf("debug %t: envelope = %v", debug, b)
				}
				f.setHandlers(func(context.Context) error {
					return xerror.New(xerror.NotFound, "")
				})
				b = envelopeOf(f.T, unaryOf(f.Context(), f.client).err)
				if (b.Overhead != nil) != debug {
					f.Errorf("debug %t: envelope of an error = %v", debug, b)
				}
			})
		}
	})
}
