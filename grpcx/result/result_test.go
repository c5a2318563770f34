package result_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/grpcx/generate"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/result"
)

// callContext returns the context of a call.
func callContext(ctx context.Context) context.Context {
	r := xctx.NewRequest(ctx, nil)
	r.SetID("6f9619ff")
	return r
}

var want = &generate.BaseResponse{
	Context: "6f9619ff", Output: "Success", Code: 200, Message: "done",
}

func TestSuccess(t *testing.T) {
	t.Run("returns a success envelope", func(t *testing.T) {
		got := result.Success(callContext(t.Context()), "done")
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("envelope (-want +got):\n%s", diff)
		}
	})

	t.Run("has no request ID outside a call", func(t *testing.T) {
		for _, ctx := range []context.Context{nil, t.Context()} {
			got := result.Success(ctx, "done")
			if got.GetContext() != "" || got.GetCode() != 200 || got.ErrorMessage != nil ||
				got.Overhead != nil {
				t.Errorf("envelope = %v, want no request ID, error message or overhead", got)
			}
		}
	})
}

func TestSuccessWith(t *testing.T) {
	t.Run("sets the envelope", func(t *testing.T) {
		ctx := callContext(t.Context())
		for _, tc := range []struct {
			name string
			got  interface {
				GetBaseResponse() *generate.BaseResponse
			}
		}{
			{"open", result.SuccessWith[*pb.TestResponse](ctx, "done")},
			{"open, optional", result.SuccessWith[*pb.OptionalEnvelope](ctx, "done")},
			{"hybrid", result.SuccessWith[*pb.HybridResponse](ctx, "done")},
			{"opaque", result.SuccessWith[*pb.OpaqueResponse](ctx, "done")},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got := tc.got.GetBaseResponse()
				if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
					t.Errorf("envelope (-want +got):\n%s", diff)
				}
			})
		}
	})

	t.Run("returns a new response", func(t *testing.T) {
		var wg sync.WaitGroup
		responses := make([]*pb.TestResponse, 8)
		for i := range responses {
			wg.Go(func() {
				responses[i] = result.SuccessWith[*pb.TestResponse](t.Context(), fmt.Sprint(i))
			})
		}
		wg.Wait()
		for i, r := range responses {
			if got := r.GetBaseResponse().GetMessage(); got != fmt.Sprint(i) {
				t.Errorf("message of response %d = %q, want %d", i, got, i)
			}
		}
	})

	t.Run("supports structs that are not messages", func(t *testing.T) {
		got := result.SuccessWith[*enveloped](t.Context(), "done").BaseResponse
		if got.GetMessage() != "done" || got.GetCode() != 200 {
			t.Errorf("envelope = %v, want a success", got)
		}
	})

	t.Run("panics on an unsupported type", func(t *testing.T) {
		ctx := t.Context()
		for _, tc := range []struct{ name, got, want string }{
			{"struct", panicOf[pb.TestResponse](ctx), "testproto.TestResponse"},
			{"interface", panicOf[proto.Message](ctx), "protoreflect.ProtoMessage"},
			{"any", panicOf[any](ctx), "interface {}"},
			{"string", panicOf[string](ctx), "string"},
			{"pointer to a pointer", panicOf[**pb.TestResponse](ctx), "**testproto.TestResponse"},
			{
				"struct without the field",
				panicOf[*struct{ Text string }](ctx), "*struct { Text string }",
			},
			{"no field", panicOf[*pb.WithoutEnvelope](ctx), "*testproto.WithoutEnvelope"},
			{"no field, opaque", panicOf[*pb.OpaqueWithout](ctx), "*testproto.OpaqueWithout"},
			{"another type", panicOf[*pb.OtherType](ctx), "*testproto.OtherType"},
			{"scalar", panicOf[*pb.ScalarType](ctx), "*testproto.ScalarType"},
			{"list", panicOf[*pb.RepeatedType](ctx), "*testproto.RepeatedType"},
			{"map", panicOf[*pb.MapType](ctx), "*testproto.MapType"},
			{"dynamic", panicOf[*dynamicpb.Message](ctx), "*dynamicpb.Message"},
			{"the envelope", panicOf[*generate.BaseResponse](ctx), "*generate.BaseResponse"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				want := "grpcx/result: SuccessWith[" + tc.want +
					"]: the type must be a pointer to a generated message " +
					"with the field base_response of type xBase.BaseResponse"
				if !strings.HasPrefix(tc.got, want) {
					t.Errorf("panic = %q, want %q", tc.got, want)
				}
			})
		}
		got := panicOf[*generate.BaseResponse](ctx)
		if !strings.HasSuffix(got, "use Success for the envelope itself") {
			t.Errorf("panic for the envelope = %q, want a hint to Success", got)
		}
	})

	t.Run("allocates the response and its envelope", func(t *testing.T) {
		ctx := callContext(t.Context())
		got := testing.AllocsPerRun(1000, func() {
			_ = result.SuccessWith[*pb.TestResponse](ctx, "done")
		})
		if got != 2 {
			t.Errorf("allocations = %v, want 2", got)
		}
		got = testing.AllocsPerRun(1000, func() {
			_ = result.SuccessWith[*pb.OpaqueResponse](ctx, "done")
		})
		if got != 2 {
			t.Errorf("allocations of an opaque response = %v, want 2", got)
		}
	})
}

// enveloped is a struct with an envelope that is not a message.
type enveloped struct {
	BaseResponse *generate.BaseResponse
}

// panicOf returns the panic message of SuccessWith[T].
func panicOf[T any](ctx context.Context) (text string) {
	defer func() { text, _ = recover().(string) }()
	result.SuccessWith[T](ctx, "done")
	return ""
}
