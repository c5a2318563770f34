// Package rpcstatus converts errors to gRPC statuses and statuses to errors. Server and
// client share it.
//
// The first detail of a status is the response envelope, an xBase.BaseResponse. The
// second detail contains the error's data: a google.rpc.BadRequest for validation errors,
// a google.protobuf.Value for other data.
//
// A status is sent in a header, and some clients limit headers to 8 KiB. Messages are
// therefore truncated to 512 bytes, the request ID and the label to 128 bytes, and data
// above 2.5 KiB is omitted.
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

var logger = xlog.WithName(xlog.NamedGRPC)

// codeByHTTPStatus is the table of the specification. Other HTTP statuses map to
// codes.Unknown.
var codeByHTTPStatus = map[int]codes.Code{
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

// Code returns the gRPC code of an error, derived from the HTTP status of its error code.
// A canceled context maps to codes.Canceled, although its error code has HTTP status 400.
func Code(e *xerror.Error) codes.Code {
	if e.GetErrorCode() == xerror.Canceled && errors.Is(e, context.Canceled) {
		return codes.Canceled
	}
	if code, ok := codeByHTTPStatus[e.GetErrorCode().Status()]; ok {
		return code
	}
	return codes.Unknown
}

// statusError is an error with a gRPC status.
type statusError interface {
	error
	GRPCStatus() *status.Status
}

// Error is an error with the status sent to the client. It wraps the *xerror.Error for
// outer interceptors.
type Error struct {
	status        *status.Status
	err           *xerror.Error
	loggedAtError bool
}

// Error returns the text of the status, because grpc-go sends the text of an error that
// wraps a status to the client.
func (e *Error) Error() string { return e.status.Err().Error() }

// GRPCStatus returns the status sent to the client.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// Unwrap returns the *xerror.Error.
func (e *Error) Unwrap() error { return e.err }

// CodeAndMessage returns the error code and the message of err for the access log. For a
// status without an *xerror.Error, the code is 0 and the message is that of the status.
func CodeAndMessage(err error) (code int, message string) {
	e, ok := find[*xerror.Error](err)
	if !ok {
		return 0, status.Convert(err).Message()
	}
	if message = string(e.GetErrorMessage()); message == "" {
		message = e.GetErrorCode().GetMessage()
	}
	return e.GetErrorCode().GetCode(), message
}

// ToStatus converts err to an error with a gRPC status. It returns nil if err is nil or a
// nil pointer.
//
//   - An error that is a status is returned unchanged.
//   - An *xerror.Error in the tree of err is converted by its code.
//   - A status in the tree of err is returned without its wrappers.
//   - Other errors are converted by xerror.From: errors with a registered mapper have its
//     code, unknown errors become SERVER_INTERNAL_ERROR. The client does not receive their
//     text.
//
// ToStatus logs each converted error once.
func ToStatus(ctx context.Context, err error) error {
	if IsNil(err) {
		return nil
	}
	if own, ok := err.(statusError); ok && isFailure(own) { //nolint:errorlint // err itself
		return err
	}
	first, known := find[*xerror.Error](err)
	if converted, ok := find[*Error](err); ok && converted.err == first {
		return converted // a wrapped *Error, already logged
	}
	_, coded := find[*xerror.ErrorCode](err)
	if inner, ok := find[statusError](err); ok && !known && !coded && isFailure(inner) {
		return inner
	}
	e := xerror.From(err)
	return &Error{status: statusOf(ctx, e), err: e, loggedAtError: logError(ctx, e)}
}

// FromPanic returns the error of a call whose panic was logged at level ERROR.
func FromPanic(ctx context.Context) error {
	e := xerror.New(xerror.ServerInternalError, "")
	return &Error{status: statusOf(ctx, e), err: e, loggedAtError: true}
}

// LoggedAtError reports whether err was logged at level ERROR.
func LoggedAtError(err error) bool {
	if err == nil {
		return false
	}
	e, ok := find[*Error](err)
	return ok && e.loggedAtError
}

// find returns the first non-nil error of type T in the tree of err.
func find[T error](err error) (found T, ok bool) {
	if IsNil(err) {
		return found, false
	}
	found, ok = errors.AsType[T](err)
	return found, ok && !IsNil(found)
}

// isFailure reports whether e has a status other than OK.
func isFailure(e statusError) bool {
	st := e.GRPCStatus()
	return st != nil && st.Code() != codes.OK
}

// IsNil reports whether v is nil or contains a nil pointer, slice, map, function or
// channel.
func IsNil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Chan:
		return r.IsNil()
	default:
		return false
	}
}

// logError logs e, unless it is logged already, and reports whether a line at level ERROR
// exists.
func logError(ctx context.Context, e *xerror.Error) (loggedAtError bool) {
	if e.Logged() {
		return e.LoggedAtError()
	}
	code := e.GetErrorCode()
	level, message := slog.LevelDebug, "call rejected"
	if code.Status() >= http.StatusInternalServerError &&
		(code.Status() != http.StatusServiceUnavailable || !IsShuttingDown(ctx)) {
		level, message = slog.LevelError, "call failed"
	}
	if logger.Enabled(ctx, level) {
		logger.Log(ctx, level, message,
			slog.Int("code", code.GetCode()), slog.String("output", code.GetOutput()),
			slog.String("error", TruncateForLog(e.Error())))
	}
	return level == slog.LevelError
}

// maxLogged limits the length of a logged text in bytes, because clients control most of
// it.
const maxLogged = 4096

// TruncateForLog truncates text to the limit for log attributes.
func TruncateForLog(text string) string { return truncate(text, maxLogged) }

// IsShuttingDown reports whether the application is draining. The status Unavailable is
// expected then and not logged as a failure.
func IsShuttingDown(ctx context.Context) bool {
	select {
	case <-xhook.Draining(ctx):
		return true
	default:
		return false
	}
}
