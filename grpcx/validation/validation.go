// Package validation validates the requests of gRPC calls and reports field errors in the
// same form as HTTP, for every validation library.
//
// All functions are safe for concurrent use.
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

// Check validates a request. It returns nil for a valid request, and an error made by
// Reject for an invalid one. Other errors are converted like errors of a handler.
//
// A Check must be safe for concurrent use and must not modify the request.
type Check = func(ctx context.Context, request any) error

// maxValidateAll is the size in bytes above which Validate is preferred to ValidateAll.
// ValidateAll stores about 170 bytes per failure, and an invalid element may need only
// two bytes on the wire.
const maxValidateAll = 64 << 10

// Methods is the Check that calls the request's ValidateAll() error method or, if it does
// not exist, Validate() error. If a message with both is larger than 64 KiB, Methods
// calls Validate, which stops at the first failure. A request with neither method is
// valid, and so is a nil pointer.
//
// The errors are converted for the client. A list of fields (protoc-gen-validate,
// validator/v10, xvalid) becomes the list of Reject. An *xerror.Error or a gRPC status is
// returned unchanged. A registered foreign error has the code of its mapper and hides its
// text. The text of any other error, up to 512 bytes, becomes a failure in the list; it
// may quote the request, so it is neither the message nor logged.
func Methods(ctx context.Context, request any) error {
	err := validate(request)
	if rpcstatus.IsNil(err) {
		return nil
	}
	return convert(ctx, err)
}

// validate calls ValidateAll or Validate.
func validate(request any) error {
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
	return ok && proto.Size(m) > maxValidateAll
}

// Join returns a Check that runs checks in order and returns the first error. Typed nils,
// such as a nil *xerror.Error, are no errors. Join panics if a check is nil.
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

// convert converts an error of a request's method for the client.
func convert(ctx context.Context, err error) error {
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
		return Reject(ctx, list, err)
	}
	if hasFieldErrors(err) {
		list, head := findings(ctx, err)
		return reject(ctx, list, head, err)
	}
	if e := xerror.From(err); e.GetErrorCode() != xerror.ServerInternalError {
		return e
	}
	return reject(ctx, []xvalid.FieldError{{
		Tag:     TagInvalid,
		Message: rpcstatus.Text(err.Error()),
	}}, noHead, err)
}

// isStatus reports whether err is a gRPC status other than OK. status.FromError would
// format every other error, which may be long.
func isStatus(err error) bool {
	var s interface{ GRPCStatus() *status.Status }
	return errors.As(err, &s) && s.GRPCStatus().Code() != codes.OK
}

// Reject returns the error for an invalid request: xerror.ParameterError with list as its
// data and its first failure as the message. The list is limited to xvalid.MaxFailures,
// the message to 512 bytes. A failure without a field applies to the whole request.
//
// The message may be logged. The first failure must therefore not quote the request.
//
// The cause may be nil. errors.Is and errors.As find it, but the text of the error
// contains only fields and rules, because the cause may quote the request.
func Reject(ctx context.Context, list []xvalid.FieldError, cause error) *xerror.Error {
	return reject(ctx, list, 0, cause)
}

// noHead is the head of a list without a message that may be logged.
const noHead = -1

// reject is Reject with head, the index of the failure used as the message, or noHead.
func reject(ctx context.Context, list []xvalid.FieldError, head int, cause error) *xerror.Error {
	if rpcstatus.IsNil(cause) {
		cause = nil
	}
	list = slices.Clone(list[:min(len(list), xvalid.MaxFailures)])
	for i := range list {
		if list[i].Message == "" {
			list[i].Message = textValue.in(ctx)
		}
	}
	refused := &refusal{list: list, cause: cause}
	message := textRequest.in(ctx)
	if len(list) == 0 {
		return xerror.Wrap(xerror.ParameterError, xerror.ErrMessage(message), refused)
	}
	if head != noHead {
		message = summary(list[head])
	}
	return xerror.WrapData(xerror.ParameterError, xerror.ErrMessage(message), refused, list)
}

// summary returns one failure as text. Many messages start with the name of the field.
func summary(f xvalid.FieldError) string {
	name := f.Field[strings.LastIndexByte(f.Field, '.')+1:]
	if name == "" || strings.HasPrefix(f.Message, name) {
		return rpcstatus.Text(f.Message)
	}
	return rpcstatus.Text(f.Field + ": " + f.Message)
}

// phrase is a text in English and Chinese.
type phrase [2]string

var (
	textRequest = phrase{"the request is not valid", "请求参数无效"}
	textValue   = phrase{"the value is not valid", "值无效"}
)

// in returns the text in the language of ctx.
func (p phrase) in(ctx context.Context) string {
	if xerror.Language(ctx) == xerror.Chinese {
		return p[1]
	}
	return p[0]
}

// refusal is the cause of a rejection with a text that may be logged.
type refusal struct {
	list  []xvalid.FieldError
	cause error
}

// Error implements error.
func (r *refusal) Error() string {
	rules := make([]string, len(r.list))
	for i, f := range r.list {
		rules[i] = cmp.Or(f.Field, "whole request") + " (" + f.Tag + ")"
	}
	return "grpcx/validation: invalid request: " + strings.Join(rules, ", ")
}

// Unwrap returns the error of the validation library.
func (r *refusal) Unwrap() error { return r.cause }
