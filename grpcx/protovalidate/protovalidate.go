// Package protovalidate checks the requests of gRPC calls against the rules that stand in
// their .proto files, with buf.build/go/protovalidate.
//
// It is a module of its own because of what it brings along: an interpreter of the Common
// Expression Language.
package protovalidate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// wholeList is the size in bytes up to which all failures of a request are sought; in a
// larger one the first is. protovalidate keeps every failure that it finds, in some 700
// bytes each, and a bad element may take two on the wire.
const wholeList = 64 << 10

// New returns a Check by the rules of buf.validate. It is safe for concurrent use.
//
// The rules of a type are compiled when the first of its messages is checked, or in New
// for the messages of protovalidate.WithMessages. Rules that cannot be compiled are an
// internal error of each call with such a message, logged with its cause: it never
// passes.
//
// A request that is no proto.Message passes. A nil message is an empty one, as everywhere
// in protobuf.
func New(options ...protovalidate.ValidatorOption) (validation.Check, error) {
	validator, err := protovalidate.New(options...)
	if err != nil {
		return nil, fmt.Errorf("grpcx/protovalidate: %w", err)
	}
	return func(ctx context.Context, request any) error {
		message, ok := request.(proto.Message)
		if !ok {
			return nil
		}
		return check(ctx, validator, message)
	}, nil
}

// MustNew is New for rules that are part of the program: it panics where New returns an
// error.
func MustNew(options ...protovalidate.ValidatorOption) validation.Check {
	check, err := New(options...)
	if err != nil {
		panic(err)
	}
	return check
}

func check(ctx context.Context, validator protovalidate.Validator, message proto.Message) error {
	var err error
	if proto.Size(message) > wholeList {
		err = validator.Validate(message, protovalidate.WithFailFast())
	} else {
		err = validator.Validate(message)
	}
	if err == nil {
		return nil
	}
	var found *protovalidate.ValidationError
	if errors.As(err, &found) {
		return validation.Refuse(ctx, failures(found.Violations), found)
	}
	return xerror.NewInternalServerError(ctx, "", fault(message, err))
}

// failures lists violations in the form in which clients get them. The values in them are
// left where they are.
func failures(violations []*protovalidate.Violation) []xvalid.FieldError {
	violations = violations[:min(len(violations), xvalid.MaxFailures)]
	list := make([]xvalid.FieldError, len(violations))
	for i, v := range violations {
		list[i] = xvalid.FieldError{
			Field: path(v.Proto), Tag: v.Proto.GetRuleId(),
			Message: v.Proto.GetMessage(),
		}
	}
	return list
}

// fault says why the rules of a message could not be applied. What an expression says at
// run time may quote the request, so that only the name of the rule is kept of it.
func fault(message proto.Message, err error) error {
	name := message.ProtoReflect().Descriptor().FullName()
	var compilation *protovalidate.CompilationError
	if errors.As(err, &compilation) {
		return fmt.Errorf("grpcx/protovalidate: rules of %s: %w", name, err)
	}
	text := fmt.Sprintf("%T", err)
	if outer := errors.Unwrap(err); outer != nil {
		if inner := errors.Unwrap(outer); inner != nil {
			text = strings.TrimSuffix(outer.Error(), ": "+inner.Error())
		}
	}
	return fmt.Errorf("grpcx/protovalidate: rules of %s: %w",
		name, &runtimeError{text: text, err: err})
}

// runtimeError is the error of a rule in a form that may be logged.
type runtimeError struct {
	text string
	err  error
}

// Error implements error.
func (e *runtimeError) Error() string { return e.text }

// Unwrap returns the error of protovalidate.
func (e *runtimeError) Unwrap() error { return e.err }
