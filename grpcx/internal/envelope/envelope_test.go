package envelope_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/envelope"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// filled returns an envelope with all fields set.
func filled() *generate.BaseResponse {
	return &generate.BaseResponse{
		Context: "id", Output: "Success", Code: 200, Message: "done",
		ErrorMessage: new("none"), Overhead: proto.Int64(7),
	}
}

// embedding is a message that embeds a generated message.
type embedding struct{ *pb.TestResponse }

// embeddingAny is a message that embeds proto.Message.
type embeddingAny struct{ proto.Message }

func of(message any) *envelope.Field { return envelope.Of(reflect.TypeOf(message)) }

func TestField_Set(t *testing.T) {
	for _, tc := range []struct {
		name    string
		message proto.Message
	}{
		{"open", &pb.TestResponse{}},
		{"open, optional", &pb.OptionalEnvelope{}},
		{"open, delimited", &pb.DelimitedResponse{}},
		{"hybrid", &pb.HybridResponse{}},
		{"opaque", &pb.OpaqueResponse{}},
		{"embedding open", embedding{&pb.TestResponse{}}.pointer()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := of(tc.message)
			if f == nil {
				t.Fatal("field not found")
			}
			if got := f.Get(tc.message); got != nil {
				t.Errorf("Get of the empty message = %v, want nil", got)
			}
			if !f.Set(tc.message, filled()) {
				t.Fatal("Set = false")
			}
			if diff := cmp.Diff(filled(), f.Get(tc.message), protocmp.Transform()); diff != "" {
				t.Errorf("Get after Set (-want +got):\n%s", diff)
			}
			received := transferred(t, tc.message)
			if diff := cmp.Diff(filled(), received, protocmp.Transform()); diff != "" {
				t.Errorf("received envelope (-want +got):\n%s", diff)
			}
		})
	}
}

func (a embedding) pointer() *embedding { return &a }

// transferred returns the envelope that a client reads from message.
func transferred(t *testing.T, message proto.Message) *generate.BaseResponse {
	t.Helper()
	data, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	received := message.ProtoReflect().New().Interface()
	if err := proto.Unmarshal(data, received); err != nil {
		t.Fatal(err)
	}
	return of(received).Get(received)
}

func TestField_Get(t *testing.T) {
	t.Run("stores the envelope without a copy", func(t *testing.T) {
		for _, message := range []proto.Message{
			&pb.TestResponse{}, &pb.HybridResponse{}, &pb.OpaqueResponse{},
		} {
			b := filled()
			if f := of(message); !f.Set(message, b) || f.Get(message) != b {
				t.Errorf("%T contains a copy", message)
			}
		}
	})

	t.Run("returns an envelope message itself", func(t *testing.T) {
		b := &generate.BaseResponse{Message: "old", Overhead: proto.Int64(1)}
		f := of(b)
		if f.Get(b) != b {
			t.Error("Get returned another message")
		}
		want := filled()
		want.Overhead = nil
		if !f.Set(b, want) || !proto.Equal(b, want) {
			t.Errorf("after Set = %v, want %v", b, want)
		}
		if !f.Set(b, b) || !proto.Equal(b, want) {
			t.Errorf("after Set of itself = %v, want %v", b, want)
		}
	})
}

// plain is a struct with an envelope that is not a message.
type plain struct {
	BaseResponse *generate.BaseResponse
}

func TestOf(t *testing.T) {
	t.Run("supports structs that are not messages", func(t *testing.T) {
		f := envelope.Of(reflect.TypeFor[*plain]())
		if f == nil {
			t.Fatal("field not found")
		}
		response, want := &plain{}, &generate.BaseResponse{Message: "done"}
		if !f.Set(response, want) || response.BaseResponse != want || f.Get(response) != want {
			t.Errorf("response = %+v, want the envelope", response)
		}
	})

	t.Run("returns nil for other types", func(t *testing.T) {
		var none proto.Message
		for _, tc := range []struct {
			name string
			t    reflect.Type
		}{
			{"nil", nil},
			{"message without the field", reflect.TypeFor[*pb.WithoutEnvelope]()},
			{"opaque message without the field", reflect.TypeFor[*pb.OpaqueWithout]()},
			{"other message type", reflect.TypeFor[*pb.OtherType]()},
			{"scalar", reflect.TypeFor[*pb.ScalarType]()},
			{"list", reflect.TypeFor[*pb.RepeatedType]()},
			{"map", reflect.TypeFor[*pb.MapType]()},
			{"struct", reflect.TypeFor[pb.TestResponse]()},
			{"member of a oneof", reflect.TypeFor[*pb.OneofType]()},
			{"member of an opaque oneof", reflect.TypeFor[*pb.OpaqueOneof]()},
			{"message of dynamicpb", reflect.TypeFor[*dynamicpb.Message]()},
			{"message that embeds proto.Message", reflect.TypeFor[*embeddingAny]()},
			{"pointer to pointer", reflect.TypeFor[**pb.TestResponse]()},
			{"interface", reflect.TypeOf(&none).Elem()},
			{"pointer to an interface", reflect.TypeOf(&none)},
			{"struct with another type", reflect.TypeFor[*struct{ BaseResponse string }]()},
			{"struct with an embedded field", reflect.TypeFor[*struct{ plain }]()},
			{"string", reflect.TypeFor[string]()},
		} {
			t.Run(tc.name, func(t *testing.T) {
				if envelope.Of(tc.t) != nil {
					t.Error("unexpected field")
				}
			})
		}
	})

	t.Run("caches the field of a type", func(t *testing.T) {
		var wg sync.WaitGroup
		found := make([]*envelope.Field, 8)
		for i := range found {
			wg.Go(func() { found[i] = of(&pb.TestResponse{}) })
		}
		wg.Wait()
		for _, f := range found {
			if f == nil || f != found[0] {
				t.Fatal("Of returned different fields for one type")
			}
		}
	})
}

func TestField_Set_Ignored(t *testing.T) {
	t.Run("nil messages", func(t *testing.T) {
		for _, message := range []any{
			(*generate.BaseResponse)(nil), (*pb.TestResponse)(nil), (*pb.OpaqueResponse)(nil),
			(*embedding)(nil), new(embedding),
		} {
			f := of(message)
			if f == nil {
				t.Errorf("%T has no field", message)
			}
			if f.Get(message) != nil || f.Set(message, filled()) {
				t.Errorf("a nil %T has an envelope", message)
			}
		}
	})

	t.Run("messages of another type", func(t *testing.T) {
		f, other := of(&pb.TestResponse{}), &pb.OpaqueResponse{}
		for _, message := range []any{other, nil, "text", pb.TestRequest{}} {
			if f.Get(message) != nil || f.Set(message, filled()) {
				t.Errorf("%T has an envelope", message)
			}
		}
		if other.HasBaseResponse() {
			t.Error("another message was changed")
		}
		var none *envelope.Field
		if none.Get(other) != nil || none.Set(other, filled()) {
			t.Error("a nil Field returned an envelope")
		}
	})
}

func TestField_Allocations(t *testing.T) {
	t.Run("get", func(t *testing.T) {
		opaque := &pb.OpaqueResponse{}
		opaque.SetBaseResponse(filled())
		for _, message := range []any{
			filled(), &pb.TestResponse{BaseResponse: filled()}, &pb.WithoutEnvelope{}, opaque,
		} {
			got := testing.AllocsPerRun(1000, func() { _ = of(message).Get(message) })
			if got != 0 {
				t.Errorf("Get of %T: allocations = %v, want 0", message, got)
			}
		}
	})

	t.Run("set", func(t *testing.T) {
		b := filled()
		for _, message := range []any{&pb.TestResponse{}, &pb.OpaqueResponse{}} {
			f := of(message)
			if got := testing.AllocsPerRun(1000, func() { f.Set(message, b) }); got != 0 {
				t.Errorf("Set of %T: allocations = %v, want 0", message, got)
			}
		}
	})
}

func BenchmarkGet(b *testing.B) {
	opaque := &pb.OpaqueResponse{}
	opaque.SetBaseResponse(filled())
	for _, tc := range []struct {
		name    string
		message any
	}{
		{"open", &pb.TestResponse{BaseResponse: filled()}},
		{"opaque", opaque},
		{"none", &pb.WithoutEnvelope{}},
	} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = of(tc.message).Get(tc.message)
			}
		})
	}
}
