package xerror

import (
	"errors"
	"fmt"
)

// From converts any error to an *Error.
//
// It returns nil for nil and for a nil *Error, and it returns an *Error unchanged. If err
// wraps an *Error, the result has its code, message and data; errors.As defines the
// search order, and nil pointers are skipped. If err is or wraps an *ErrorCode, the
// result has that code.
//
// Other errors get their code from the registered mappers: first those of the
// application, then those of the framework and drivers, then those of the standard
// library. An unknown error is a ServerInternalError. A mapped error becomes the cause,
// so clients never receive its text.
func From(err error) *Error {
	if err = normalize(err); err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // must not match wrapped errors
		return e
	}
	return classify(err)
}

// otherMappers run after the application's mappers.
var otherMappers = mapperGroup{markedCode, frameworkMappers.code, standardMappers.code}

// classify converts an error that is not an *Error. If a method of the error panics, for
// example on a typed nil, the result is an internal error without err in its chain.
func classify(err error) (result *Error) {
	defer func() {
		if p := recover(); p != nil {
			result = &Error{
				code:  ServerInternalError,
				cause: fmt.Errorf("xerror: error of type %T panicked: %v", err, p),
			}
		}
	}()
	if e := find[*Error](err); e != nil {
		wrapped := *e
		wrapped.cause, wrapped.wrapper = err, true
		return &wrapped
	}
	code := find[*ErrorCode](err)
	if code != nil && err == error(code) { //nolint:errorlint // a bare code needs no cause
		return &Error{code: code}
	}
	if code == nil {
		code = applicationMappers.code(err)
	}
	if code != nil {
		return &Error{code: code, cause: err}
	}
	return &Error{code: otherMappers.code(err).orInternal(), cause: err, mapped: true}
}

type pointer interface {
	error
	*Error | *ErrorCode
}

// find returns the first non-nil T in the tree of err, in the order of errors.AsType.
func find[T pointer](err error) T {
	if found, ok := errors.AsType[T](err); !ok || found != nil {
		return found
	}
	return firstWrapped(err, find[T])
}

// firstWrapped returns the first non-nil result of get for the errors that err directly
// wraps, or nil.
func firstWrapped[T pointer](err error, get func(error) T) T {
	var inner []error
	switch w := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		inner = []error{w.Unwrap()}
	case interface{ Unwrap() []error }:
		inner = w.Unwrap()
	}
	for _, e := range inner {
		if e == nil {
			continue
		}
		if found := get(e); found != nil {
			return found
		}
	}
	return nil
}
