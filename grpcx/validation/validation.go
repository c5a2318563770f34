// Package validation says what is wrong with the request of a gRPC call, in the form in
// which HTTP does: one list of fields, whichever library found the faults.
//
// Everything is safe for concurrent use.
package validation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/internal/rpcstatus"
)

// Check judges a request; nil is no objection. What a client shall know is best built by
// Refuse. An error of another kind is answered like one of the handler: without its text
// where nobody knows it.
//
// A Check is called for many requests at a time, and does not change them.
type Check = func(ctx context.Context, request any) error

// wholeList is the size in bytes up to which all failures of a message are sought; in a
// larger one the first is, where the message has a method for that. ValidateAll keeps
// every failure that it finds, in some 170 bytes each, and a bad element may take two on
// the wire.
const wholeList = 64 << 10

// Methods is the Check that asks the request itself: its ValidateAll() error, or else its
// Validate() error. Of a message above 64 KiB that has both the second is asked, which
// stops at the first failure. A request with neither passes, and so does a nil pointer,
// whose methods are not called; no such request comes over the wire.
//
// These methods are written for the caller. An error that lists fields
// (protoc-gen-validate, validator/v10 and xvalid) becomes that list, an *xerror.Error or
// a gRPC status stays what it is, and an error that the registry of foreign errors knows
// has its code and keeps its text inside. Of any other error the caller sees the text, up
// to 512 bytes of it, as a failure in the list; it may repeat what the client sent, so it
// is no part of the message and not logged.
func Methods(ctx context.Context, request any) error {
	err := ask(request)
	if rpcstatus.IsNil(err) {
		return nil
	}
	return objection(ctx, err)
}

// ask calls the method of the request that suits it, where it has one.
func ask(request any) error {
	all, hasAll := request.(interface{ ValidateAll() error })
	first, hasFirst := request.(interface{ Validate() error })
	switch {
	case !hasAll && !hasFirst, rpcstatus.IsNil(request):
		return nil
	case hasAll && (!hasFirst || !isLarge(request)):
		return all.ValidateAll()
	default:
		return first.Validate()
	}
}

func isLarge(request any) bool {
	m, ok := request.(proto.Message)
	return ok && proto.Size(m) > wholeList
}

// Join returns a Check that runs checks in order and stops at the first objection. A
// typed nil, such as a nil *xerror.Error, is none. A nil Check is a panic here, and not
// at the first call.
func Join(checks ...Check) Check {
	if i := slices.IndexFunc(checks, func(c Check) bool { return c == nil }); i >= 0 {
		panic(fmt.Sprintf("grpcx/validation: check %d of %d is nil", i+1, len(checks)))
	}
	checks = slices.Clone(checks)
	return func(ctx context.Context, request any) error {
		for _, check := range checks {
			if err := check(ctx, request); !rpcstatus.IsNil(err) {
				return err
			}
		}
		return nil
	}
}

// objection makes of an error from a method of the request what the caller may see.
func objection(ctx context.Context, err error) error {
	var (
		known *xerror.Error
		code  *xerror.ErrorCode
		rule  *xvalid.RuleError
	)
	switch {
	case errors.As(err, &known), errors.As(err, &code), errors.As(err, &rule):
		return xerror.From(err)
	case isStatus(err):
		return err
	}
	if list := xvalid.Failures(ctx, err); len(list) > 0 {
		return Refuse(ctx, list, err)
	}
	if lists(err) {
		list, head := findings(ctx, err)
		return refuse(ctx, list, head, err)
	}
	if e := xerror.From(err); e.GetErrorCode() != xerror.ServerInternalError {
		return e
	}
	return refuse(ctx, []xvalid.FieldError{{
		Tag:     TagInvalid,
		Message: rpcstatus.Text(err.Error()),
	}}, noHead, err)
}

// isStatus reports whether err is a gRPC status that says that a call failed.
// status.FromError would ask every other error for its text, which may be long.
func isStatus(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	return errors.As(err, &s) && s.GRPCStatus().Code() != codes.OK
}

// Refuse returns the error of a request that is not valid: xerror.ParameterError with the
// list as its data, at most xvalid.MaxFailures long, and the first failure as its
// message, up to 512 bytes of it. A failure without a field is one of the request as a
// whole.
//
// The message may be logged, so the text of the first failure says which rule is broken
// and never what the client sent.
//
// The cause may be nil. It is found by errors.As and its kin, but its text, which may
// repeat what the client sent, is not part of the error's own: that has fields and rules
// only, and may be logged.
func Refuse(ctx context.Context, list []xvalid.FieldError, cause error) *xerror.Error {
	return refuse(ctx, list, 0, cause)
}

// noHead is the head of a list in which no text may be logged.
const noHead = -1

// refuse is Refuse with the index of the failure that becomes the message, or noHead.
func refuse(ctx context.Context, list []xvalid.FieldError, head int, cause error) *xerror.Error {
	if rpcstatus.IsNil(cause) {
		cause = nil
	}
	list = slices.Clone(list[:min(len(list), xvalid.MaxFailures)])
	for i := range list {
		if list[i].Message == "" {
			list[i].Message = textValue.in(ctx)
		}
	}
	why := &refusal{list: list, cause: cause}
	message := textRequest.in(ctx)
	if len(list) == 0 {
		return xerror.Wrap(xerror.ParameterError, xerror.ErrMessage(message), why)
	}
	if head != noHead {
		message = summary(list[head])
	}
	return xerror.WrapData(xerror.ParameterError, xerror.ErrMessage(message), why, list)
}

// summary says one failure in one text. Many messages begin with the field's name anyway.
func summary(f xvalid.FieldError) string {
	name := f.Field[strings.LastIndexByte(f.Field, '.')+1:]
	if name == "" || strings.HasPrefix(f.Message, name) {
		return rpcstatus.Text(f.Message)
	}
	return rpcstatus.Text(f.Field + ": " + f.Message)
}

// phrase is a text in English and in Chinese.
type phrase [2]string

var (
	textRequest = phrase{"the request is not valid", "请求参数无效"}
	textValue   = phrase{"the value is not valid", "值无效"}
)

// in returns the text in the language of the call.
func (p phrase) in(ctx context.Context) string {
	if xerror.Language(ctx) == xerror.Chinese {
		return p[1]
	}
	return p[0]
}

// refusal is why a request was refused, in a form that may be logged.
type refusal struct {
	list  []xvalid.FieldError
	cause error
}

// Error implements error.
func (r *refusal) Error() string {
	rules := make([]string, len(r.list))
	for i, f := range r.list {
		rules[i] = cmp.Or(f.Field, "as a whole") + " (" + f.Tag + ")"
	}
	return "grpcx/validation: the request was refused: " + strings.Join(rules, ", ")
}

// Unwrap returns the error of the library that validated.
func (r *refusal) Unwrap() error { return r.cause }
