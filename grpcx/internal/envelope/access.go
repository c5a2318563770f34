package envelope

import (
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plinthgo/plinth/grpcx/generate"
)

// Get returns the envelope that message holds: nil where it holds none, where it is a nil pointer, and where it is of
// another type than the Field is for. What is returned is the message's own, except where dynamicpb has read it from the
// wire: that is a copy.
func (f *Field) Get(message any) *generate.BaseResponse {
	v, ok := f.pointer(message)
	if !ok {
		return nil
	}
	var b *generate.BaseResponse
	switch f.way {
	case wayItself:
		b, _ = message.(*generate.BaseResponse)
	case wayStruct:
		b, _ = reflect.TypeAssert[*generate.BaseResponse](v.Elem().Field(f.index))
	case wayMessage:
		if m, fd := f.reflect(message); fd != nil && m.Has(fd) {
			b = own(m.Get(fd).Message().Interface())
		}
	}
	return b
}

// Set makes b the envelope of message and reports whether it is; nil takes the envelope away. The message then holds b
// itself, except where it is an envelope, or has a descriptor from elsewhere than this program: those take a copy.
//
// Nothing is changed, and the answer is false, where message is a nil pointer or of another type than the Field is for,
// and where another member of the envelope's oneof is set: the envelope never takes the place of a payload.
func (f *Field) Set(message any, b *generate.BaseResponse) bool {
	v, ok := f.pointer(message)
	if !ok {
		return false
	}
	switch f.way {
	case wayItself:
		envelope, _ := message.(*generate.BaseResponse)
		replace(envelope, b)
		return true
	case wayStruct:
		v.Elem().Field(f.index).Set(reflect.ValueOf(b))
		return true
	default:
		m, fd := f.reflect(message)
		return fd != nil && set(m, fd, b)
	}
}

// pointer returns message as a pointer that is not nil, of the type that f is for.
func (f *Field) pointer(message any) (reflect.Value, bool) {
	if f == nil || reflect.TypeOf(message) != f.owner {
		return reflect.Value{}, false
	}
	v := reflect.ValueOf(message)
	return v, !v.IsNil()
}

// reflect returns the reflection of message and its field base_response, nil where it has none.
func (f *Field) reflect(message any) (protoreflect.Message, protoreflect.FieldDescriptor) {
	p, _ := message.(proto.Message) // as every f.owner is
	m := p.ProtoReflect()
	if !m.IsValid() {
		return nil, nil
	}
	if f.field != nil {
		return m, f.field
	}
	return m, fieldOf(m.Descriptor())
}

// set is Set through the reflection of protocol buffers.
func set(m protoreflect.Message, fd protoreflect.FieldDescriptor, b *generate.BaseResponse) bool {
	if group := fd.ContainingOneof(); group != nil {
		if chosen := m.WhichOneof(group); chosen != nil && chosen.Number() != fd.Number() {
			return false
		}
	}
	if b == nil {
		m.Clear(fd)
		return true
	}
	held := b.ProtoReflect()
	if fd.Message() != held.Descriptor() {
		held = m.NewField(fd).Message()
		if !transcribe(held.Interface(), b) {
			return false
		}
	}
	m.Set(fd, protoreflect.ValueOfMessage(held))
	return true
}

// replace gives envelope the contents of b.
func replace(envelope, b *generate.BaseResponse) {
	if envelope == b {
		return
	}
	envelope.Reset()
	if b != nil {
		proto.Merge(envelope, b)
	}
}

// own returns an envelope as the type that this module knows: as it is, or a copy of another implementation. It is nil
// where that cannot be read.
func own(m proto.Message) *generate.BaseResponse {
	if b, ok := m.(*generate.BaseResponse); ok {
		return b
	}
	b := new(generate.BaseResponse)
	if !transcribe(b, m) {
		return nil
	}
	return b
}

// transcribe copies a message into one of another implementation, over the wire format.
func transcribe(to, from proto.Message) bool {
	data, err := proto.Marshal(from)
	return err == nil && proto.Unmarshal(data, to) == nil
}
