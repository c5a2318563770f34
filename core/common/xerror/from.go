package xerror

import (
	"errors"
	"fmt"
)

// From turns any error into an *Error.
//
// Nil stays nil, and so does a nil *Error. An *Error comes back as it is; an error around one (wrapped
// or joined, the first in the order of errors.As) keeps its code, message and data, and so does a bare
// *ErrorCode. For any other error the registered mappers are asked: the application's, then those of
// the framework and the drivers, then those of the standard library. What nobody knows is a
// ServerInternalError. A mapped error becomes the cause and no part of the message, so its text stays
// inside the process.
func From(err error) *Error {
	if err = present(err); err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // the error itself, not one inside it
		return e
	}
	return classify(err)
}

// classify finds the code of an error that is no *Error. If a method of the error or a mapper panics,
// it is an unknown error: such as a nil pointer of another package's type, which is not kept.
func classify(err error) (result *Error) {
	defer func() {
		if p := recover(); p != nil {
			cause := fmt.Errorf("xerror: mapping an error of type %T panicked: %v: %v", err, p, err) // fmt survives err
			result = &Error{code: ServerInternalError, cause: cause}
		}
	}()
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		wrapped := *e
		wrapped.cause, wrapped.wrapper = err, true
		return &wrapped
	}
	code, _ := errors.AsType[*ErrorCode](err)
	if code != nil && err == error(code) { //nolint:errorlint // the code itself, which needs no cause
		return &Error{code: code}
	}
	if code == nil {
		code = applicationMappers.code(err)
	}
	if code != nil {
		return &Error{code: code, cause: err}
	}
	for _, mapper := range []Mapper{markedCode, frameworkMappers.code, standardCode} {
		if code = mapper(err); code != nil {
			break
		}
	}
	return &Error{code: code.orInternal(), cause: err, mapped: true}
}
