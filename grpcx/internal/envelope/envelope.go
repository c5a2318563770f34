// Package envelope finds the field base_response of a message and caches it by type.
//
// The field must be a singular xBase.BaseResponse. Lists, maps, members of a oneof and
// fields of another type do not count. Messages of the open, hybrid and opaque API are
// supported.
package envelope

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plinthgo/plinth/grpcx/generate"
)

// Names of the envelope.
const (
	// Name is the name of the field in a .proto file.
	Name = "base_response"
	// goName is the name of the field in a Go struct.
	goName = "BaseResponse"
	// TypeName is the full name of the message type of the field.
	TypeName = "xBase.BaseResponse"
)

var (
	messageType  = reflect.TypeFor[proto.Message]()
	envelopeType = reflect.TypeFor[*generate.BaseResponse]()
)

// fields caches the *Field of each message type, nil for a type without the field.
var fields sync.Map

// Field accesses the envelope of the messages of one type. It is immutable and safe for
// concurrent use. A nil *Field is valid and has no envelope.
type Field struct {
	owner reflect.Type
	index int // index of the Go struct field; -1 if the API hides the fields
	// set if the API hides the fields; nil for the envelope itself
	field protoreflect.FieldDescriptor
}

// Of returns the Field of a message type, or nil if the type has no envelope. It supports
// *generate.BaseResponse itself, pointers to structs with a field BaseResponse, and other
// generated messages with a field base_response.
func Of(t reflect.Type) *Field {
	if t == nil {
		return nil
	}
	cached, ok := fields.Load(t)
	if !ok {
		cached, _ = fields.LoadOrStore(t, find(t))
	}
	f, _ := cached.(*Field)
	return f
}

// find implements Of without the cache.
func find(t reflect.Type) *Field {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	if t == envelopeType {
		return &Field{owner: t, index: -1}
	}
	if f, ok := t.Elem().FieldByName(goName); ok && f.Type == envelopeType && len(f.Index) == 1 {
		return &Field{owner: t, index: f.Index[0]}
	}
	if fd := fieldOf(t); fd != nil {
		return &Field{owner: t, index: -1, field: fd}
	}
	return nil
}

// fieldOf returns the field base_response of a generated message, or nil. It skips
// members of a oneof: setting the envelope would clear the payload.
func fieldOf(t reflect.Type) (fd protoreflect.FieldDescriptor) {
	if !t.Implements(messageType) {
		return nil
	}
	defer func() {
		// A dynamicpb message has no descriptor without an instance.
		if recover() != nil {
			fd = nil
		}
	}()
	m, _ := reflect.TypeAssert[proto.Message](reflect.New(t.Elem()))
	fd = m.ProtoReflect().Descriptor().Fields().ByName(Name)
	want := new(generate.BaseResponse).ProtoReflect().Descriptor()
	if fd == nil || fd.Cardinality() == protoreflect.Repeated || fd.Message() != want {
		return nil
	}
	if oneof := fd.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		return nil
	}
	return fd
}

// Get returns the envelope of message. It returns nil if the envelope is not set, or if
// message is a nil pointer or of another type.
func (f *Field) Get(message any) *generate.BaseResponse {
	v, ok := f.pointer(message)
	if !ok {
		return nil
	}
	var b *generate.BaseResponse
	switch {
	case f.index >= 0:
		b, _ = reflect.TypeAssert[*generate.BaseResponse](v.Elem().Field(f.index))
	case f.field == nil:
		b, _ = message.(*generate.BaseResponse)
	default:
		p, _ := message.(proto.Message)
		if m := p.ProtoReflect(); m.Has(f.field) {
			b, _ = m.Get(f.field).Message().Interface().(*generate.BaseResponse)
		}
	}
	return b
}

// Set sets the envelope of message to b, which must not be nil, and reports whether it
// succeeded. It fails if message is a nil pointer or of another type. The message stores
// b itself; if message is an envelope, Set copies b into it.
func (f *Field) Set(message any, b *generate.BaseResponse) bool {
	v, ok := f.pointer(message)
	if !ok {
		return false
	}
	switch {
	case f.index >= 0:
		v.Elem().Field(f.index).Set(reflect.ValueOf(b))
	case f.field == nil:
		if own, _ := message.(*generate.BaseResponse); own != b {
			own.Reset()
			proto.Merge(own, b)
		}
	default:
		p, _ := message.(proto.Message)
		m := p.ProtoReflect()
		if !m.IsValid() {
			return false
		}
		m.Set(f.field, protoreflect.ValueOfMessage(b.ProtoReflect()))
	}
	return true
}

// pointer returns message as a non-nil pointer of the Field's type.
func (f *Field) pointer(message any) (reflect.Value, bool) {
	if f == nil || reflect.TypeOf(message) != f.owner {
		return reflect.Value{}, false
	}
	v := reflect.ValueOf(message)
	return v, !v.IsNil()
}
