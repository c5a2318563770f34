package xerror

import (
	"context"
	"errors"
	"log/slog"
	"slices"
)

// ErrMessage is what the developer tells the client beside the code's own message. It
// goes out as error_message; whatever must stay inside belongs into the cause.
type ErrMessage string

// String returns the text.
func (m ErrMessage) String() string { return string(m) }

// Error is a failure with a code: what the client may know (code, message, data) and what
// only the log may know (the cause). It does not change once made, so it is safe for
// concurrent use.
//
// All methods may be called on nil and on the zero value, which is an internal error
// without a message.
type Error struct {
	code    *ErrorCode
	message ErrMessage
	data    any
	cause   error

	// wrapper says that cause is an error around another *Error, whose text therefore
	// says it all.
	wrapper bool
	// mapped says that a mapper of the framework, of a driver or of the standard library
	// has chosen the code, not the application.
	mapped bool
	// loggedAt is the level of the line that has been written about it, 0 without one.
	loggedAt slog.Level
}

// New returns an error without a cause.
func New(code *ErrorCode, message ErrMessage) *Error {
	return &Error{code: code, message: message}
}

// Wrap returns an error with a cause, which may be nil.
func Wrap(code *ErrorCode, message ErrMessage, cause error) *Error {
	return &Error{code: code, message: message, cause: present(cause)}
}

// WrapData is Wrap with a payload for the client: a single value stands for itself,
// several become a list.
func WrapData(code *ErrorCode, message ErrMessage, cause error, data ...any) *Error {
	return &Error{code: code, message: message, cause: present(cause), data: payload(data)}
}

// NewError returns an error; several causes are joined, nil ones are left out. With throw
// it is logged at WARN, once, here: whoever handles it later need not log it again.
func NewError(
	ctx context.Context, code *ErrorCode, message ErrMessage, throw bool, cause ...error,
) *Error {
	e := &Error{code: code, message: message, cause: join(cause)}
	if throw {
		e.log(ctx, slog.LevelWarn)
	}
	return e
}

// NewErrorHasData is NewError with a payload for the client: a single value stands for
// itself, several become a list.
func NewErrorHasData(
	ctx context.Context, code *ErrorCode, message ErrMessage, throw bool, cause error, data ...any,
) *Error {
	e := WrapData(code, message, cause, data...)
	if throw {
		e.log(ctx, slog.LevelWarn)
	}
	return e
}

// NewInternalServerError returns a ServerInternalError and logs it at ERROR, once.
func NewInternalServerError(ctx context.Context, message ErrMessage, cause error) *Error {
	e := Wrap(ServerInternalError, message, cause)
	e.log(ctx, slog.LevelError)
	return e
}

// Error returns the label, the message and the cause. It is for logs, not for clients.
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

// Unwrap returns the code and the cause, so that errors.Is finds both.
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

// GetErrorCode returns the code: never nil, except of a nil error.
func (e *Error) GetErrorCode() *ErrorCode {
	if e == nil {
		return nil
	}
	return e.code.orInternal()
}

// GetErrorMessage returns what the developer tells the client.
func (e *Error) GetErrorMessage() ErrMessage { return e.orZero().message }

// Logged reports whether the error was logged where it was made: whoever handles it need
// not do so again.
func (e *Error) Logged() bool { return e.orZero().loggedAt != 0 }

// LoggedAtError reports whether the error was logged at ERROR where it was made.
func (e *Error) LoggedAtError() bool { return e.orZero().loggedAt == slog.LevelError }

// GetData returns the payload for the client.
func (e *Error) GetData() any { return e.orZero().data }

// orZero replaces no error by the zero value.
func (e *Error) orZero() *Error {
	if e == nil {
		return &Error{}
	}
	return e
}

// present turns a typed nil *Error or *ErrorCode into no error.
func present(err error) error {
	if err == error((*Error)(nil)) || err == error((*ErrorCode)(nil)) { //nolint:errorlint // the very value, not what it wraps
		return nil
	}
	return err
}

// join makes one cause of several. The list is copied before it is kept, so that a caller
// with one cause pays for no list.
func join(causes []error) error {
	if len(causes) == 1 {
		return present(causes[0])
	}
	absent := func(c error) bool { return present(c) == nil }
	return errors.Join(slices.DeleteFunc(slices.Clone(causes), absent)...)
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
