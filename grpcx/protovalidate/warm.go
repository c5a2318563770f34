package protovalidate

import (
	"errors"
	"fmt"
	"slices"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// warm is an option whose messages New compiles and looks at.
type warm struct {
	protovalidate.ValidatorOption
	messages []protoreflect.MessageDescriptor
}

// WithMessages compiles the rules of messages, and of those that they hold, in New and not at the first call. The
// messages may be empty. Unlike the option of that name in protovalidate it lets New say what does not compile.
func WithMessages(messages ...proto.Message) protovalidate.ValidatorOption {
	list := make([]protoreflect.MessageDescriptor, len(messages))
	for i, m := range messages {
		list[i] = m.ProtoReflect().Descriptor()
	}
	return warmed(list)
}

// WithServices is WithMessages for the requests of all services in files, which are the variables File_… of the
// generated code.
func WithServices(files ...protoreflect.FileDescriptor) protovalidate.ValidatorOption {
	var list []protoreflect.MessageDescriptor
	for _, file := range files {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				list = append(list, methods.Get(j).Input())
			}
		}
	}
	return warmed(list)
}

func warmed(list []protoreflect.MessageDescriptor) protovalidate.ValidatorOption {
	return warm{ValidatorOption: protovalidate.WithMessageDescriptors(list...), messages: list}
}

// reach returns the messages of list and those in their fields, each once.
func reach(list []protoreflect.MessageDescriptor) []protoreflect.MessageDescriptor {
	var all []protoreflect.MessageDescriptor
	for todo := slices.Clone(list); len(todo) > 0; {
		m := todo[0]
		todo = todo[1:]
		if slices.Contains(all, m) {
			continue
		}
		all = append(all, m)
		for i := range m.Fields().Len() {
			field := m.Fields().Get(i)
			if field.IsMap() {
				field = field.MapValue()
			}
			if inner := field.Message(); inner != nil {
				todo = append(todo, inner)
			}
		}
	}
	return all
}

// compile returns what does not compile of the messages in options, one problem for each message.
func compile(validator protovalidate.Validator, options []protovalidate.ValidatorOption) error {
	var list []protoreflect.MessageDescriptor
	for _, o := range options {
		if w, ok := o.(warm); ok {
			list = append(list, w.messages...)
		}
	}
	var errs []error
	for _, m := range reach(list) {
		var wrong *protovalidate.CompilationError
		if err := validator.Validate(dynamicpb.NewMessage(m)); errors.As(err, &wrong) {
			errs = append(errs, fmt.Errorf("grpcx/protovalidate: rules of %s: %w", m.FullName(), err))
		}
	}
	return errors.Join(errs...)
}
