package protovalidate_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	// the options in files
	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// shop is the descriptor of a .proto file as text.
const shop = `
name: "shop.proto" package: "shop" syntax: "proto3"
dependency: "buf/validate/validate.proto"
message_type {
  name: "Order"
  options { [buf.validate.message] { cel {
    id: "order.dates" message: "the end is before the start" expression: "this.until >= this.from"
  } } }
  field { name: "name" number: 1 type: TYPE_STRING options { [buf.validate.field] { string { min_len: 3 } } } }
  field { name: "items" number: 2 type: TYPE_MESSAGE type_name: ".shop.Item" label: LABEL_REPEATED }
  field { name: "by" number: 3 type: TYPE_MESSAGE type_name: ".shop.Order.ByEntry" label: LABEL_REPEATED
    options { [buf.validate.field] { map { keys { string { not_in: "hunter2" } } } } } }
  field { name: "from" number: 4 type: TYPE_INT32 }
  field { name: "until" number: 5 type: TYPE_INT32 }
  field { name: "parent" number: 6 type: TYPE_MESSAGE type_name: ".shop.Order" }
  field { name: "codes" number: 7 type: TYPE_STRING label: LABEL_REPEATED
    options { [buf.validate.field] { repeated { items { string { min_len: 1 } } } } } }
  field { name: "ids" number: 8 type: TYPE_MESSAGE type_name: ".shop.Order.IdsEntry" label: LABEL_REPEATED
    options { [buf.validate.field] { map { values { int32 { gt: 0 } } } } } }
  field { name: "flags" number: 9 type: TYPE_MESSAGE type_name: ".shop.Order.FlagsEntry" label: LABEL_REPEATED
    options { [buf.validate.field] { map { values { int32 { gt: 0 } } } } } }
  field { name: "sizes" number: 10 type: TYPE_MESSAGE type_name: ".shop.Order.SizesEntry" label: LABEL_REPEATED
    options { [buf.validate.field] { map { values { int32 { gt: 0 } } } } } }
  nested_type { name: "ByEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING } field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".shop.Item" } }
  nested_type { name: "IdsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_INT64 } field { name: "value" number: 2 type: TYPE_INT32 } }
  nested_type { name: "FlagsEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_BOOL } field { name: "value" number: 2 type: TYPE_INT32 } }
  nested_type { name: "SizesEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_UINT32 } field { name: "value" number: 2 type: TYPE_INT32 } }
}
message_type {
  name: "Item"
  field { name: "price" number: 1 type: TYPE_INT32 options { [buf.validate.field] { int32 { gt: 0 } } } }
}
message_type { # an expression that does not compile
  name: "Broken"
  field { name: "name" number: 1 type: TYPE_STRING
    options { [buf.validate.field] { cel { id: "broken.rule" expression: "this.no_such_field == 1" } } } }
  field { name: "age" number: 2 type: TYPE_INT32
    options { [buf.validate.field] { cel { id: "broken.too" expression: "this +" } } } }
}
message_type { # a rule that fails on an empty message, before one that does not compile
  name: "Hidden"
  options { [buf.validate.message] { cel { id: "hidden.first" message: "no" expression: "1 / this.number > 0" } } }
  field { name: "number" number: 1 type: TYPE_INT32 }
  field { name: "broken" number: 2 type: TYPE_MESSAGE type_name: ".shop.Hidden.BrokenEntry" label: LABEL_REPEATED }
  field { name: "self" number: 3 type: TYPE_MESSAGE type_name: ".shop.Hidden" }
  nested_type { name: "BrokenEntry" options { map_entry: true }
    field { name: "key" number: 1 type: TYPE_STRING } field { name: "value" number: 2 type: TYPE_MESSAGE type_name: ".shop.Broken" } }
}
message_type { name: "ContainsBroken"
  field { name: "broken" number: 1 type: TYPE_MESSAGE type_name: ".shop.Broken" label: LABEL_REPEATED }
}
message_type { # an expression that fails on some values
  name: "Fragile"
  field { name: "at" number: 1 type: TYPE_STRING
    options { [buf.validate.field] { cel { id: "fragile.rule" message: "no" expression: "timestamp(this) < timestamp('2030-01-01T00:00:00Z')" } } } }
}
service {
  name: "Orders"
  method { name: "Place" input_type: ".shop.Order" output_type: ".shop.Item" }
}
service {
  name: "BrokenService"
  method { name: "First" input_type: ".shop.ContainsBroken" output_type: ".shop.Item" }
  method { name: "Second" input_type: ".shop.ContainsBroken" output_type: ".shop.Item" }
}`

// file is the compiled shop.proto.
var file = mustParse(shop)

func mustParse(text string) protoreflect.FileDescriptor {
	var parsed descriptorpb.FileDescriptorProto
	if err := prototext.Unmarshal([]byte(text), &parsed); err != nil {
		panic(err)
	}
	f, err := protodesc.NewFile(&parsed, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return f
}

// message returns a message of shop.proto.
func message(name protoreflect.Name, text string) proto.Message {
	m := dynamicpb.NewMessage(file.Messages().ByName(name))
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		panic(err)
	}
	return m
}

// failuresOf returns the failures of a request, or nil if it is valid.
func failuresOf(t *testing.T, check validation.Check, request any) []xvalid.FieldError {
	t.Helper()
	err := check(t.Context(), request)
	if err == nil {
		return nil
	}
	var e *xerror.Error
	if !errors.As(err, &e) || e.GetErrorCode() != xerror.ParameterError {
		t.Fatalf("error = %v, want PARAMETER_ERROR", err)
	}
	list, ok := e.GetData().([]xvalid.FieldError)
	if !ok {
		t.Fatalf("data = %T, want []xvalid.FieldError", e.GetData())
	}
	return list
}

// contextWithLog returns a context whose log is written to the buffer.
func contextWithLog(t *testing.T) (context.Context, *bytes.Buffer) {
	t.Helper()
	var buf bytes.Buffer
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: &buf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	return xlog.NewContext(t.Context(), engine), &buf
}
