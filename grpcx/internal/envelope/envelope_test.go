package envelope_test

import (
	"reflect"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/grpcx/generate"
	"github.com/plinthgo/plinth/grpcx/internal/envelope"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
)

// filled returns an envelope with all fields.
func filled() *generate.BaseResponse {
	return &generate.BaseResponse{
		Context: "id", Output: "Success", Code: 200, Message: "done", ErrorMessage: new("none"), Overhead: proto.Int64(7),
	}
}

// dynamic returns an empty message of dynamicpb that looks like m.
func dynamic(m proto.Message) *dynamicpb.Message {
	return dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
}

// foreign returns an empty message of dynamicpb that looks like m and has a descriptor of its own, as if it had been
// read from a file or asked of a server.
func foreign(t *testing.T, m proto.Message) *dynamicpb.Message {
	t.Helper()
	set := new(descriptorpb.FileDescriptorSet)
	for _, file := range []protoreflect.FileDescriptor{
		new(generate.BaseResponse).ProtoReflect().Descriptor().ParentFile(), m.ProtoReflect().Descriptor().ParentFile(),
	} {
		set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		t.Fatal(err)
	}
	d, err := files.FindDescriptorByName(m.ProtoReflect().Descriptor().FullName())
	if err != nil {
		t.Fatal(err)
	}
	return dynamicpb.NewMessage(d.(protoreflect.MessageDescriptor))
}

// around is a message that embeds another, as wrappers in services do.
type around struct{ *pb.TestResponse }

// aroundAny is a message that embeds any other.
type aroundAny struct{ proto.Message }

func of(message any) *envelope.Field { return envelope.Of(reflect.TypeOf(message)) }

func TestTheEnvelopeOfAMessageIsSetAndFound(t *testing.T) {
	for _, tc := range []struct {
		name    string
		message proto.Message
	}{
		{"open", &pb.TestResponse{}},
		{"open, optional", &pb.OptionalEnvelope{}},
		{"open, in a oneof", &pb.OneofType{}},
		{"open, delimited", &pb.DelimitedResponse{}},
		{"hybrid", &pb.HybridResponse{}},
		{"opaque", &pb.OpaqueResponse{}},
		{"opaque, in a oneof", &pb.OpaqueOneof{}},
		{"dynamic", dynamic(&pb.TestResponse{})},
		{"dynamic, optional", dynamic(&pb.OptionalEnvelope{})},
		{"dynamic, in a oneof", dynamic(&pb.OneofType{})},
		{"dynamic, foreign", foreign(t, &pb.TestResponse{})},
		{"dynamic, foreign, in a oneof", foreign(t, &pb.OneofType{})},
		{"around open", around{&pb.TestResponse{}}.pointer()},
		{"around opaque", &aroundAny{&pb.OpaqueResponse{}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := of(tc.message)
			if f == nil {
				t.Fatal("no field")
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
			if diff := cmp.Diff(filled(), transferred(t, tc.message), protocmp.Transform()); diff != "" {
				t.Errorf("what the client reads (-want +got):\n%s", diff)
			}
			if !f.Set(tc.message, nil) || f.Get(tc.message) != nil {
				t.Errorf("Get after Set of nil = %v, want nil", f.Get(tc.message))
			}
			if size := proto.Size(tc.message); size != 0 {
				t.Errorf("size after Set of nil = %d, want 0", size)
			}
		})
	}
}

func (a around) pointer() *around { return &a }

// transferred sends a message to a client that knows its fields by reflection only.
func transferred(t *testing.T, message proto.Message) *generate.BaseResponse {
	t.Helper()
	data, err := proto.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	received := dynamicpb.NewMessage(message.ProtoReflect().Descriptor())
	if err := proto.Unmarshal(data, received); err != nil {
		t.Fatal(err)
	}
	return of(received).Get(received)
}

func TestGeneratedMessagesHoldTheVeryEnvelope(t *testing.T) {
	for _, message := range []proto.Message{
		&pb.TestResponse{}, &pb.OneofType{}, &pb.HybridResponse{}, &pb.OpaqueResponse{}, &pb.OpaqueOneof{},
	} {
		b := filled()
		if f := of(message); !f.Set(message, b) || f.Get(message) != b {
			t.Errorf("%T holds a copy", message)
		}
	}
}

func TestAnEnvelopeIsItsOwn(t *testing.T) {
	b := &generate.BaseResponse{Message: "old", Overhead: proto.Int64(1)}
	f := of(b)
	if f.Get(b) != b {
		t.Error("Get is another message")
	}
	given := filled()
	given.Overhead = nil
	if !f.Set(b, given) || !proto.Equal(b, given) {
		t.Errorf("after Set = %v, want %v", b, given)
	}
	if !f.Set(b, b) || !proto.Equal(b, given) {
		t.Errorf("after Set of itself = %v, want %v", b, given)
	}
	if !f.Set(b, nil) || proto.Size(b) != 0 {
		t.Errorf("after Set of nil = %v, want it empty", b)
	}
}

// plain is no message, and has the field all the same.
type plain struct {
	BaseResponse *generate.BaseResponse
}

func TestAStructThatIsNoMessageMayHaveTheField(t *testing.T) {
	f := envelope.Of(reflect.TypeFor[*plain]())
	if f == nil {
		t.Fatal("there is no field")
	}
	response, want := &plain{}, &generate.BaseResponse{Message: "done"}
	if !f.Set(response, want) || response.BaseResponse != want || f.Get(response) != want {
		t.Errorf("response = %+v, want the envelope", response)
	}
}

func TestOtherTypesHaveNoField(t *testing.T) {
	var none proto.Message
	for _, tc := range []struct {
		name string
		t    reflect.Type
	}{
		{"nil", nil},
		{"message without", reflect.TypeFor[*pb.WithoutEnvelope]()},
		{"opaque message without", reflect.TypeFor[*pb.OpaqueWithout]()},
		{"other message type", reflect.TypeFor[*pb.OtherType]()},
		{"scalar", reflect.TypeFor[*pb.ScalarType]()},
		{"list", reflect.TypeFor[*pb.RepeatedType]()},
		{"map", reflect.TypeFor[*pb.MapType]()},
		{"struct", reflect.TypeFor[pb.TestResponse]()},
		{"pointer to pointer", reflect.TypeFor[**pb.TestResponse]()},
		{"interface", reflect.TypeOf(&none).Elem()},
		{"pointer to an interface", reflect.TypeOf(&none)},
		{"no message, another type", reflect.TypeFor[*struct{ BaseResponse string }]()},
		{"no message, embedded", reflect.TypeFor[*struct{ plain }]()},
		{"text", reflect.TypeFor[string]()},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if envelope.Of(tc.t) != nil {
				t.Error("there is a field")
			}
		})
	}
}

func TestDynamicMessagesWithoutAnEnvelopeHaveNone(t *testing.T) {
	for _, m := range []proto.Message{
		&pb.WithoutEnvelope{}, &pb.OtherType{}, &pb.ScalarType{}, &pb.RepeatedType{}, &pb.MapType{},
	} {
		message := dynamic(m)
		if f := of(message); f.Get(message) != nil || f.Set(message, filled()) || proto.Size(message) != 0 {
			t.Errorf("%T has an envelope", m)
		}
	}
}

func TestADynamicEnvelopeIsRead(t *testing.T) {
	inner, outer := dynamic(filled()), dynamic(&pb.TestResponse{})
	if f := of(inner); f.Get(inner) != nil || f.Set(inner, filled()) {
		t.Error("a dynamic envelope holds another")
	}
	proto.Merge(inner, filled())
	outer.Set(outer.Descriptor().Fields().ByName(envelope.Name), protoreflect.ValueOfMessage(inner))
	if diff := cmp.Diff(filled(), of(outer).Get(outer), protocmp.Transform()); diff != "" {
		t.Errorf("envelope (-want +got):\n%s", diff)
	}
}

func TestNilMessagesAreLeftAlone(t *testing.T) {
	for _, message := range []any{
		(*generate.BaseResponse)(nil), (*pb.TestResponse)(nil), (*pb.OpaqueResponse)(nil), (*pb.OneofType)(nil),
		(*dynamicpb.Message)(nil), (*around)(nil), (*aroundAny)(nil), new(around), new(dynamicpb.Message),
	} {
		f := of(message)
		if f == nil {
			t.Errorf("%T has no field", message)
		}
		if f.Get(message) != nil || f.Set(message, filled()) || f.Set(message, nil) {
			t.Errorf("a nil %T has an envelope", message)
		}
	}
}

func TestMessagesOfAnotherTypeAreLeftAlone(t *testing.T) {
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
		t.Error("no field finds an envelope")
	}
}

func TestAnEnvelopeNeverTakesThePlaceOfAPayload(t *testing.T) {
	open, opaque := &pb.OneofType{Result: &pb.OneofType_Text{Text: "payload"}}, &pb.OpaqueOneof{}
	opaque.SetText("payload")
	dyn := dynamic(open)
	proto.Merge(dyn, open)
	for _, message := range []proto.Message{open, opaque, dyn} {
		before := proto.Clone(message)
		if f := of(message); f.Get(message) != nil || f.Set(message, filled()) || f.Set(message, nil) {
			t.Errorf("%T has an envelope beside its payload", message)
		}
		if !proto.Equal(before, message) {
			t.Errorf("%T lost its payload: %v", message, message)
		}
	}
}

func TestAnEnvelopeThatCannotBeCopiedIsNotSet(t *testing.T) {
	message := foreign(t, &pb.TestResponse{})
	if of(message).Set(message, &generate.BaseResponse{Message: "\xff"}) || proto.Size(message) != 0 {
		t.Errorf("an envelope that is no UTF-8 was set: %v", message)
	}
}

func TestTheFieldIsFoundOncePerType(t *testing.T) {
	var wg sync.WaitGroup
	found := make([]*envelope.Field, 8)
	for i := range found {
		wg.Go(func() { found[i] = of(&pb.TestResponse{}) })
	}
	wg.Wait()
	for _, f := range found {
		if f == nil || f != found[0] {
			t.Fatal("one type has two fields")
		}
	}
}

func TestGettingAllocatesNothing(t *testing.T) {
	opaque := &pb.OpaqueResponse{}
	opaque.SetBaseResponse(filled())
	for _, message := range []any{
		filled(), &pb.TestResponse{BaseResponse: filled()}, &pb.WithoutEnvelope{}, opaque,
		&pb.OneofType{Result: &pb.OneofType_BaseResponse{BaseResponse: filled()}},
	} {
		if got := testing.AllocsPerRun(1000, func() { _ = of(message).Get(message) }); got != 0 {
			t.Errorf("Get of %T: allocations = %v, want 0", message, got)
		}
	}
}

func TestSettingAllocatesNothing(t *testing.T) {
	b := filled()
	for _, message := range []any{&pb.TestResponse{}, &pb.OpaqueResponse{}} {
		f := of(message)
		if got := testing.AllocsPerRun(1000, func() { f.Set(message, b) }); got != 0 {
			t.Errorf("Set of %T: allocations = %v, want 0", message, got)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	opaque := &pb.OpaqueResponse{}
	opaque.SetBaseResponse(filled())
	for _, tc := range []struct {
		name    string
		message any
	}{{"open", &pb.TestResponse{BaseResponse: filled()}}, {"opaque", opaque}, {"none", &pb.WithoutEnvelope{}}} {
		b.Run(tc.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = of(tc.message).Get(tc.message)
			}
		})
	}
}
