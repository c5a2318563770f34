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

// plain says which code stands for a status without an envelope, as another framework
// sends it.
var plain = map[codes.Code]*xerror.ErrorCode{
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

// From returns the error that a status stands for, or nil where err is nil.
//
// A status with an envelope gives the number, the label, the messages and the data that
// the server sent; one without gives the code that its own stands for, and its text,
// which was not written for our clients, stays in the cause. The cause is err, so
// status.Code still works; where the status says that the context has ended, the cause is
// the context's error too.
func From(err error) *xerror.Error {
	if Absent(err) {
		return nil
	}
	if _, known := find[*xerror.Error](err); known {
		return xerror.From(err)
	}
	c, ok := find[carrier](err)
	if !ok || !isFailure(c) {
		return xerror.From(err)
	}
	st := c.GRPCStatus()
	cause := causeOf(st.Code(), err)
	b, data := read(st)
	if b.GetOutput() == "" {
		return xerror.WrapData(plainCode(st), "", cause, data...)
	}
	code := xerror.RemoteCode(number(b.GetCode()), b.GetOutput(), b.GetMessage())
	return xerror.WrapData(code, xerror.ErrMessage(b.GetErrorMessage()), cause, data...)
}

// RequestID returns the request id in the envelope of the status in err's tree, or "".
func RequestID(err error) string {
	c, ok := find[carrier](err)
	if !ok || !isFailure(c) {
		return ""
	}
	b, _ := read(c.GRPCStatus())
	return b.GetContext()
}

// ofTheLibrary is how grpc-go begins the texts of failures that are its own, such as of a
// message above its limit.
const ofTheLibrary = "grpc: "

func plainCode(st *status.Status) *xerror.ErrorCode {
	c := plain[st.Code()]
	if c == nil || c == xerror.TooManyRequests && strings.HasPrefix(st.Message(), ofTheLibrary) {
		// a number that gRPC does not define, or a failure that no patience heals
		return xerror.RemoteError
	}
	return c
}

// The numbers that an error code can have.
const minNumber, maxNumber = 40000, 59999

// number returns the number of a remote code; one that no code can have is that of an
// unknown error.
func number(n uint64) int {
	if n < minNumber || n > maxNumber {
		return xerror.RemoteError.GetCode()
	}
	return int(n)
}

// ended is a status which says that the context has ended.
type ended struct {
	error
	context error
}

// Unwrap returns the status and the context's error.
func (e *ended) Unwrap() []error { return []error{e.error, e.context} }

func causeOf(code codes.Code, err error) error {
	switch code {
	case codes.Canceled:
		return &ended{error: err, context: context.Canceled}
	case codes.DeadlineExceeded:
		return &ended{error: err, context: context.DeadlineExceeded}
	default:
		return err
	}
}

// read returns the envelope of a status, nil where it has none, and its data, of which
// there is at most one.
func read(st *status.Status) (b *generate.BaseResponse, data []any) {
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
			Field: v.GetField(),
			Tag:   strings.ToLower(v.GetReason()), Message: v.GetDescription(),
		})
	}
	return list
}
