package xerror

import (
	"context"
	"errors"
	"log/slog"
	"slices"
)

// ErrMessage is the developer's message for the client, in addition to the message of the
// code. Responses contain it as error_message. Put confidential details in the cause
// instead.
type ErrMessage string

// String returns the message.
func (m ErrMessage) String() string { return string(m) }

// Error is an error with a code. Clients receive the code, the message and the data. Only
// logs contain the cause. An Error is immutable and safe for concurrent use.
//
// All methods accept nil and the zero value and treat them as an internal error without a
// message.
type Error struct {
	code    *ErrorCode
	message ErrMessage
	data    any
	cause   error

	// wrapper reports whether cause wraps another *Error. The text of cause is then
	// complete.
	wrapper bool
	// mapped reports whether a mapper of the framework, a driver or the standard library
	// chose the code, not the application.
	mapped bool
	// loggedAt is the level at which the error was logged, or 0.
	loggedAt slog.Level
}

// New returns an error without a cause.
func New(code *ErrorCode, message ErrMessage) *Error {
	return &Error{code: code, message: message}
}

// Wrap returns an error with a cause. cause may be nil.
func Wrap(code *ErrorCode, message ErrMessage, cause error) *Error {
	return &Error{code: code, message: message, cause: normalize(cause)}
}

// WrapData is like Wrap and adds data for the client. A single value is used as is;
// several values become a list.
func WrapData(code *ErrorCode, message ErrMessage, cause error, data ...any) *Error {
	return &Error{code: code, message: message, cause: normalize(cause), data: payload(data)}
}

// NewError returns an error. It joins several causes and ignores nil ones. If throw is
// true, NewError also logs the error at WARN, and callers need not log it again.
func NewError(
	ctx context.Context, code *ErrorCode, message ErrMessage, throw bool, cause ...error,
) *Error {
	e := &Error{code: code, message: message, cause: join(cause)}
	if throw {
		e.log(ctx, slog.LevelWarn)
	}
	return e
}

// NewErrorHasData is like NewError and adds data for the client. A single value is used
// as is; several values become a list.
func NewErrorHasData(
	ctx context.Context, code *ErrorCode, message ErrMessage, throw bool, cause error, data ...any,
) *Error {
	e := WrapData(code, message, cause, data...)
	if throw {
		e.log(ctx, slog.LevelWarn)
	}
	return e
}

// NewInternalServerError returns a ServerInternalError and logs it at ERROR.
func NewInternalServerError(ctx context.Context, message ErrMessage, cause error) *Error {
	e := Wrap(ServerInternalError, message, cause)
	e.log(ctx, slog.LevelError)
	return e
}

// Error returns the label, the message and the cause. Use it in logs only, not in
// responses.
func (e *Error) Error() string {
	if e == nil {
		return "<nil>"
	}
	if e.wrapper {
		return e.cause.Error()
	}
	text := e.code.GetOutput()
	if e.message != "" {
		text += ": " + string(e.message)
	}
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	switch {
	case e == nil:
		return nil
	case e.cause == nil:
		return []error{e.code.orInternal()}
	default:
		return []error{e.code.orInternal(), e.cause}
	}
}

// GetErrorCode returns the code. It returns nil only if e is nil.
func (e *Error) GetErrorCode() *ErrorCode {
	if e == nil {
		return nil
	}
	return e.code.orInternal()
}

// GetErrorMessage returns the developer's message for the client.
func (e *Error) GetErrorMessage() ErrMessage { return e.orZero().message }

// Logged reports whether the constructor logged the error.
func (e *Error) Logged() bool { return e.orZero().loggedAt != 0 }

// LoggedAtError reports whether the constructor logged the error at ERROR.
func (e *Error) LoggedAtError() bool { return e.orZero().loggedAt == slog.LevelError }

// GetData returns the data for the client.
func (e *Error) GetData() any { return e.orZero().data }

// orZero replaces nil by the zero value.
func (e *Error) orZero() *Error {
	if e == nil {
		return &Error{}
	}
	return e
}

// normalize returns nil if err is a nil *Error or *ErrorCode, and err otherwise.
func normalize(err error) error {
	if err == error((*Error)(nil)) || err == error((*ErrorCode)(nil)) { //nolint:errorlint // must not match wrapped errors
		return nil
	}
	return err
}

// join joins causes. It clones the list only if there are several, to save an allocation.
func join(causes []error) error {
	if len(causes) == 1 {
		return normalize(causes[0])
	}
	isNil := func(c error) bool { return normalize(c) == nil }
	return errors.Join(slices.DeleteFunc(slices.Clone(causes), isNil)...)
}

func payload(data []any) any {
	switch len(data) {
	case 0:
		return nil
	case 1:
		return data[0]
	default:
		return slices.Clone(data)
	}
}
