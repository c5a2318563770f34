package rpcstatus

import (
	"context"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/generate"
)

// defaultCodes maps statuses without an envelope, sent by other frameworks, to error
// codes.
var defaultCodes = map[codes.Code]*xerror.ErrorCode{
	codes.Canceled:           xerror.Canceled,
	codes.Unknown:            xerror.RemoteError,
	codes.InvalidArgument:    xerror.ParameterError,
	codes.DeadlineExceeded:   xerror.UpstreamTimeout,
	codes.NotFound:           xerror.NotFound,
	codes.AlreadyExists:      xerror.Existed,
	codes.PermissionDenied:   xerror.PermissionDenied,
	codes.ResourceExhausted:  xerror.TooManyRequests,
	codes.FailedPrecondition: xerror.UnprocessableEntity,
	codes.Aborted:            xerror.Conflict,
	codes.OutOfRange:         xerror.RangeError,
	codes.Unimplemented:      xerror.UnsupportedOp,
	codes.Internal:           xerror.RemoteError,
	codes.Unavailable:        xerror.ServiceUnavailable,
	codes.DataLoss:           xerror.RemoteError,
	codes.Unauthenticated:    xerror.Unauthorized,
}

// FromStatus converts err, the error of a call, to an *xerror.Error. It returns nil if
// err is nil.
//
// If the status has an envelope, the result has the number, label, messages and data that
// the server sent. Otherwise the code is derived from the gRPC code, and the status text
// is only part of the cause. The cause is err, so status.Code works on the result. For
// Canceled and DeadlineExceeded the cause also wraps the error of package context.
func FromStatus(err error) *xerror.Error {
	if IsNil(err) {
		return nil
	}
	if _, converted := find[*xerror.Error](err); converted {
		return xerror.From(err)
	}
	e, ok := find[statusError](err)
	if !ok || !isFailure(e) {
		return xerror.From(err)
	}
	st := e.GRPCStatus()
	cause := causeOf(st.Code(), err)
	b, data := readDetails(st)
	if b.GetOutput() == "" {
		return xerror.WrapData(defaultCode(st), "", cause, data...)
	}
	code := xerror.RemoteCode(number(b.GetCode()), b.GetOutput(), b.GetMessage())
	return xerror.WrapData(code, xerror.ErrMessage(b.GetErrorMessage()), cause, data...)
}

// RequestID returns the request ID in the envelope of the status in err's tree, or "".
func RequestID(err error) string {
	e, ok := find[statusError](err)
	if !ok || !isFailure(e) {
		return ""
	}
	b, _ := readDetails(e.GRPCStatus())
	return b.GetContext()
}

// libraryPrefix starts the messages of errors that grpc-go itself returns, such as for a
// message above the size limit.
const libraryPrefix = "grpc: "

func defaultCode(st *status.Status) *xerror.ErrorCode {
	c := defaultCodes[st.Code()]
	if c == nil || c == xerror.TooManyRequests && strings.HasPrefix(st.Message(), libraryPrefix) {
		// The code is unknown to gRPC, or a retry cannot succeed.
		return xerror.RemoteError
	}
	return c
}

// The range of error codes.
const minNumber, maxNumber = 40000, 59999

// number returns the code of a remote error. Numbers out of range become REMOTE_ERROR.
func number(n uint64) int {
	if n < minNumber || n > maxNumber {
		return xerror.RemoteError.GetCode()
	}
	return int(n)
}

// contextError wraps a status and the error of package context with the same meaning.
type contextError struct {
	error
	context error
}

// Unwrap returns the status and the context error.
func (e *contextError) Unwrap() []error { return []error{e.error, e.context} }

func causeOf(code codes.Code, err error) error {
	switch code {
	case codes.Canceled:
		return &contextError{error: err, context: context.Canceled}
	case codes.DeadlineExceeded:
		return &contextError{error: err, context: context.DeadlineExceeded}
	default:
		return err
	}
}

// readDetails returns the envelope of a status, or nil, and its data, at most one value.
func readDetails(st *status.Status) (b *generate.BaseResponse, data []any) {
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *generate.BaseResponse:
			if b == nil {
				b = d
			}
		case *errdetails.BadRequest:
			if data == nil {
				data = []any{failuresOf(d)}
			}
		case *structpb.Value:
			if data == nil {
				data = []any{d.AsInterface()}
			}
		}
	}
	return b, data
}

func failuresOf(bad *errdetails.BadRequest) []xvalid.FieldError {
	list := make([]xvalid.FieldError, 0, len(bad.GetFieldViolations()))
	for _, v := range bad.GetFieldViolations() {
		list = append(list, xvalid.FieldError{
			Field:   v.GetField(),
			Tag:     strings.ToLower(v.GetReason()),
			Message: v.GetDescription(),
		})
	}
	return list
}
