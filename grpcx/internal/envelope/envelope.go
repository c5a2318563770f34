// Package envelope finds the field base_response of a message, once for each type.
//
// Such a field is a single xBase.BaseResponse; a list or a map of them, or another type under the same name, is none.
// Messages of the open, the hybrid and the opaque API have it, and so have those of dynamicpb.
package envelope

import (
	"reflect"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plinthgo/plinth/grpcx/generate"
)

const (
	// Name is the name of the field.
	Name = "base_response"
	// goName is its name in a struct that is no generated message.
	goName = "BaseResponse"
	// TypeName is the full name of the field's type.
	TypeName = "xBase.BaseResponse"
)

var (
	messageType  = reflect.TypeFor[proto.Message]()
	envelopeType = reflect.TypeFor[*generate.BaseResponse]()
)

// fields holds a *Field for each type that was asked for, nil where it has none. It grows with the types of a program.
var fields sync.Map

// way says how a message's envelope is reached.
type way uint8

const (
	// wayItself is that of the envelope that is its own message.
	wayItself way = iota
	// wayStruct is a field of the Go struct.
	wayStruct
	// wayMessage is the reflection of protocol buffers, for messages that hide their fields from Go.
	wayMessage
)

// Field is the way to the envelope in the messages of one type. It never changes, so it is safe for concurrent use.
// Its methods may be called on nil, which finds no envelope in any message.
type Field struct {
	owner reflect.Type
	way   way
	index int                          // of the Go struct, for wayStruct
	field protoreflect.FieldDescriptor // for wayMessage; nil where messages of the type have different descriptors
}

// Of returns the Field of a type of messages, nil where it has none: *generate.BaseResponse, which is its own
// envelope, pointers to structs that are messages with a field base_response, and those to other structs with a field
// BaseResponse.
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
	if !t.Implements(messageType) { // for another codec than that of protocol buffers
		if f, ok := t.Elem().FieldByName(goName); ok && f.Type == envelopeType && len(f.Index) == 1 {
			return &Field{owner: t, way: wayStruct, index: f.Index[0]}
		}
		return nil
	}
	if t == envelopeType {
		return &Field{owner: t, way: wayItself}
	}
	d := descriptorOf(t)
	if d == nil {
		return &Field{owner: t, way: wayMessage}
	}
	fd := fieldOf(d)
	if fd == nil {
		return nil
	}
	if i, ok := structField(t.Elem(), fd); ok {
		return &Field{owner: t, way: wayStruct, index: i}
	}
	return &Field{owner: t, way: wayMessage, field: fd}
}

// descriptorOf returns the descriptor that all messages of the type have, nil where only a message knows its own: those
// of dynamicpb, and structs that embed another message as an interface, whose zero value panics.
func descriptorOf(t reflect.Type) (d protoreflect.MessageDescriptor) {
	defer func() {
		if recover() != nil {
			d = nil
		}
	}()
	m, _ := reflect.TypeAssert[proto.Message](reflect.New(t.Elem()))
	return m.ProtoReflect().Descriptor()
}

// fieldOf returns the field base_response of a message, or nil.
func fieldOf(d protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	fd := d.Fields().ByName(Name)
	if fd == nil || fd.Cardinality() == protoreflect.Repeated || fd.Message() == nil || fd.Message().FullName() != TypeName {
		return nil
	}
	return fd
}

// structField returns the index of the exported Go field that holds fd. The members of a oneof have none, nor have
// messages of the opaque API.
func structField(t reflect.Type, fd protoreflect.FieldDescriptor) (int, bool) {
	number := strconv.Itoa(int(fd.Number()))
	for i := range t.NumField() {
		f := t.Field(i)
		if f.IsExported() && f.Type == envelopeType && numberIn(f.Tag.Get("protobuf")) == number {
			return i, true
		}
	}
	return 0, false
}

// numberIn returns the number of the field from a tag such as "bytes,1,opt,name=base_response".
func numberIn(tag string) string {
	_, rest, _ := strings.Cut(tag, ",")
	number, _, _ := strings.Cut(rest, ",")
	return number
}
