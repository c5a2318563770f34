// Package rpcstatus turns errors into gRPC statuses and back. Server and client share it,
// so that the two ways cannot drift apart.
//
// A status carries the envelope, an xBase.BaseResponse, as its first detail; after it
// stands what an error's data says: a google.rpc.BadRequest for the failures of a
// validation, else a google.protobuf.Value.
//
// Statuses travel in a header, of which some clients take no more than 8 KiB. So texts
// are cut at 512 bytes, request id and label at 128, and data beyond 2.5 KiB is left out.
package rpcstatus

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"reflect"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhook"
)

// logger takes what the client is not told.
var logger = xlog.WithName(xlog.NamedGRPC)

// byStatus is the specification's table; any other HTTP status is codes.Unknown.
var byStatus = map[int]codes.Code{
	http.StatusBadRequest:            codes.InvalidArgument,
	http.StatusUnauthorized:          codes.Unauthenticated,
	http.StatusForbidden:             codes.PermissionDenied,
	http.StatusNotFound:              codes.NotFound,
	http.StatusMethodNotAllowed:      codes.Unimplemented,
	http.StatusNotAcceptable:         codes.FailedPrecondition,
	http.StatusRequestTimeout:        codes.DeadlineExceeded,
	http.StatusConflict:              codes.Aborted,
	http.StatusGone:                  codes.NotFound,
	http.StatusRequestEntityTooLarge: codes.ResourceExhausted,
	http.StatusUnsupportedMediaType:  codes.InvalidArgument,
	http.StatusUnprocessableEntity:   codes.FailedPrecondition,
	http.StatusTooManyRequests:       codes.ResourceExhausted,
	http.StatusInternalServerError:   codes.Internal,
	http.StatusBadGateway:            codes.Unavailable,
	http.StatusServiceUnavailable:    codes.Unavailable,
	http.StatusGatewayTimeout:        codes.DeadlineExceeded,
}

// Code returns the gRPC code of an error.
//
// A context that was cancelled keeps its code, although the catalogue counts it among the
// bad requests. One that ran out of time is a timeout in the catalogue too.
func Code(e *xerror.Error) codes.Code {
	if e.GetErrorCode() == xerror.Canceled && errors.Is(e, context.Canceled) {
		return codes.Canceled
	}
	if code, ok := byStatus[e.GetErrorCode().Status()]; ok {
		return code
	}
	return codes.Unknown
}

// carrier is an error that is a gRPC status.
type carrier interface {
	error
	GRPCStatus() *status.Status
}

// Error is an error on its way to the client: a status for gRPC, and still the xerror for
// the interceptors outside.
type Error struct {
	status   *status.Status
	err      *xerror.Error
	reported bool
}

// Error returns what the client is told, since grpc-go takes the text of an error around
// a status for the client's.
func (e *Error) Error() string { return e.status.Err().Error() }

// GRPCStatus returns the status.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// Unwrap returns the *xerror.Error.
func (e *Error) Unwrap() error { return e.err }

// Failure returns what the access log says of an error: number and message of its code;
// of a plain status there is no number, and the message is its own.
func Failure(err error) (code int, message string) {
	e, ok := find[*xerror.Error](err)
	if !ok {
		return 0, status.Convert(err).Message()
	}
	if message = string(e.GetErrorMessage()); message == "" {
		message = e.GetErrorCode().GetMessage()
	}
	return e.GetErrorCode().GetCode(), message
}

// Of returns the error as a gRPC status, or nil where err is nil or a nil pointer.
//
// An error that is a status itself passes unchanged. An *xerror.Error in the tree is
// mapped. A status in the tree comes back without the text around it. For anything else
// xerror.From knows the code: that of a mapped foreign error, or SERVER_INTERNAL_ERROR;
// its text stays inside the process. What the client is not told is logged, once.
func Of(ctx context.Context, err error) error {
	if Absent(err) {
		return nil
	}
	if own, ok := err.(carrier); ok && isFailure(own) { //nolint:errorlint // the error itself, not one inside it
		return err
	}
	first, known := find[*xerror.Error](err)
	if sent, ok := find[*Error](err); ok && sent.err == first {
		return sent // ours with a text around it, and logged
	}
	_, coded := find[*xerror.ErrorCode](err)
	if inner, ok := find[carrier](err); ok && !known && !coded && isFailure(inner) {
		return inner
	}
	e := xerror.From(err)
	return &Error{status: statusOf(ctx, e), err: e, reported: write(ctx, e)}
}

// Panicked returns the status of a call whose panic has been logged at ERROR.
func Panicked(ctx context.Context) error {
	e := xerror.New(xerror.ServerInternalError, "")
	return &Error{status: statusOf(ctx, e), err: e, reported: true}
}

// Reported reports whether the failure of a call has a line of its own at ERROR.
func Reported(err error) bool {
	if err == nil {
		return false
	}
	e, ok := find[*Error](err)
	return ok && e.reported
}

// find returns the first error of type T in the tree of err, unless it is a nil pointer.
func find[T error](err error) (found T, ok bool) {
	if Absent(err) {
		return found, false
	}
	found, ok = errors.AsType[T](err)
	return found, ok && !Absent(found)
}

// isFailure reports whether the status of c can end a failed call: not where there is
// none, and not OK.
func isFailure(c carrier) bool {
	st := c.GRPCStatus()
	return st != nil && st.Code() != codes.OK
}

// Absent reports whether v is nil or holds a nil pointer, slice, map, function or
// channel: as an error it says nothing.
func Absent(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan:
		return r.IsNil()
	default:
		return false
	}
}

// write keeps in the log what the client is not told, and reports whether the failure has
// a line at ERROR.
func write(ctx context.Context, e *xerror.Error) (reported bool) {
	if e.Logged() {
		return e.LoggedAtError()
	}
	code := e.GetErrorCode()
	level, message := slog.LevelDebug, "the call was refused"
	if code.Status() >= http.StatusInternalServerError &&
		(code.Status() != http.StatusServiceUnavailable || !Stopping(ctx)) {
		level, message = slog.LevelError, "the call failed"
	}
	if logger.Enabled(ctx, level) {
		logger.Log(ctx, level, message,
			slog.Int("code", code.GetCode()), slog.String("output", code.GetOutput()),
			slog.String("error", Cut(e.Error())))
	}
	return level == slog.LevelError
}

// maxLogged bounds a text in the log, in bytes: a client may have sent most of it.
const maxLogged = 4096

// Cut returns as much of a text as the log takes.
func Cut(text string) string { return cut(text, maxLogged) }

// Stopping reports whether the application of the call has begun its stop, when it is no
// failure that a service is not available.
func Stopping(ctx context.Context) bool {
	select {
	case <-xhook.Draining(ctx):
		return true
	default:
		return false
	}
}
