// Package envelope finds the field base_response of a message, once for each type.
//
// Such a field is a single xBase.BaseResponse; a list or a map of them, a member of a
// oneof, or another type under the same name, is none. Messages of the open, the hybrid
// and the opaque API have it.
package envelope

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plinthgo/plinth/grpcx/generate"
)

const (
	// Name is the name of the field.
	Name = "base_response"
	// goName is its name in a Go struct.
	goName = "BaseResponse"
	// TypeName is the full name of the field's type.
	TypeName = "xBase.BaseResponse"
)

var (
	messageType  = reflect.TypeFor[proto.Message]()
	envelopeType = reflect.TypeFor[*generate.BaseResponse]()
)

// fields holds a *Field for each type that was asked for, nil where it has none. It grows
// with the types of a program.
var fields sync.Map

// Field is the way to the envelope in the messages of one type. It never changes, so it
// is safe for concurrent use. Its methods may be called on nil, which finds no envelope
// in any message.
type Field struct {
	owner reflect.Type
	index int // of the Go struct, -1 if that hides it
	// of a message that hides its fields from Go; nil for the envelope itself
	field protoreflect.FieldDescriptor
}

// Of returns the Field of a type of messages, nil where it has none:
// *generate.BaseResponse, which is its own envelope, pointers to structs with a field
// BaseResponse, and other generated messages with a field base_response.
func Of(t reflect.Type) *Field {
	if t == nil {
		return nil
	}
	known, ok := fields.Load(t)
	if !ok {
		known, _ = fields.LoadOrStore(t, find(t))
	}
	f, _ := known.(*Field)
	return f
}

// find is Of without the memory.
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

// fieldOf returns the field base_response of a generated message, or nil. A member of a
// oneof is none: the envelope never takes the place of a payload.
func fieldOf(t reflect.Type) (fd protoreflect.FieldDescriptor) {
	if !t.Implements(messageType) {
		return nil
	}
	defer func() {
		// only a message itself knows its descriptor, such as one of dynamicpb
		if recover() != nil {
			fd = nil
		}
	}()
	m, _ := reflect.TypeAssert[proto.Message](reflect.New(t.Elem()))
	fd = m.ProtoReflect().Descriptor().Fields().ByName(Name)
	own := new(generate.BaseResponse).ProtoReflect().Descriptor()
	if fd == nil || fd.Cardinality() == protoreflect.Repeated || fd.Message() != own {
		return nil
	}
	if oneof := fd.ContainingOneof(); oneof != nil && !oneof.IsSynthetic() {
		return nil
	}
	return fd
}

// Get returns the envelope that message holds: nil where it holds none, where it is a nil
// pointer, and where it is of another type than the Field is for.
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

// Set makes b, which is not nil, the envelope of message and reports whether it is. The
// message then holds b itself, except where it is an envelope, which takes a copy.
// Nothing is changed, and the answer is false, where message is a nil pointer or of
// another type than the Field is for.
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

// pointer returns message as a pointer that is not nil, of the type that f is for.
func (f *Field) pointer(message any) (reflect.Value, bool) {
	if f == nil || reflect.TypeOf(message) != f.owner {
		return reflect.Value{}, false
	}
	v := reflect.ValueOf(message)
	return v, !v.IsNil()
}
