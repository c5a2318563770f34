// Package protovalidate validates the requests of gRPC calls by the rules in their .proto
// files, with buf.build/go/protovalidate.
//
// It is a separate module because protovalidate depends on an interpreter of the Common
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

// maxCollectAll is the request size in bytes above which validation stops at the first
// failure. protovalidate stores about 700 bytes per failure, and an invalid element may
// need only two bytes on the wire.
const maxCollectAll = 64 << 10

// New returns a Check for the rules of buf.validate. It is safe for concurrent use.
//
// The rules of a message type are compiled on its first validation, or in New for the
// messages of protovalidate.WithMessages. If rules do not compile, each call with such a
// message fails with an internal error, which is logged with its cause.
//
// A request that is not a proto.Message is valid. A nil message is validated as an empty
// message.
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

// MustNew is like New but panics on error.
func MustNew(options ...protovalidate.ValidatorOption) validation.Check {
	check, err := New(options...)
	if err != nil {
		panic(err)
	}
	return check
}

func check(ctx context.Context, validator protovalidate.Validator, message proto.Message) error {
	var err error
	if proto.Size(message) > maxCollectAll {
		err = validator.Validate(message, protovalidate.WithFailFast())
	} else {
		err = validator.Validate(message)
	}
	if err == nil {
		return nil
	}
	var found *protovalidate.ValidationError
	if errors.As(err, &found) {
		return validation.Reject(ctx, failures(found.Violations), found)
	}
	return xerror.NewInternalServerError(ctx, "", ruleError(message, err))
}

// failures converts violations to the form for clients, without the invalid values.
func failures(violations []*protovalidate.Violation) []xvalid.FieldError {
	violations = violations[:min(len(violations), xvalid.MaxFailures)]
	list := make([]xvalid.FieldError, len(violations))
	for i, v := range violations {
		list[i] = xvalid.FieldError{
			Field:   path(v.Proto),
			Tag:     v.Proto.GetRuleId(),
			Message: v.Proto.GetMessage(),
		}
	}
	return list
}

// ruleError returns the error for rules that cannot be applied. The error of an
// expression at run time may quote the request, so the text contains only the rule ID.
func ruleError(message proto.Message, err error) error {
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

// runtimeError is the error of a rule with a text that may be logged.
type runtimeError struct {
	text string
	err  error
}

// Error implements error.
func (e *runtimeError) Error() string { return e.text }

// Unwrap returns the error of protovalidate.
func (e *runtimeError) Unwrap() error { return e.err }
