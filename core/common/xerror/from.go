package xerror

import (
	"errors"
	"fmt"
)

// From turns any error into an *Error.
//
// Nil stays nil, and so does a nil *Error. An *Error comes back as it is; an error around
// one (wrapped or joined, the first in the order of errors.As that is not nil) keeps its
// code, message and data, and so does a bare *ErrorCode. For any other error the
// registered mappers are asked: the application's, then those of the framework and the
// drivers, then those of the standard library. What nobody knows is a
// ServerInternalError. A mapped error becomes the cause and no part of the message, so
// its text stays inside the process.
func From(err error) *Error {
	if err = present(err); err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // the error itself, not one inside it
		return e
	}
	return classify(err)
}

// otherMappers are asked after the application's.
var otherMappers = mapperGroup{markedCode, frameworkMappers.code, standardMappers.code}

// classify finds the code of an error that is no *Error. An error whose own methods
// panic, such as a nil pointer of another package's type, is an unknown one and is not
// kept.
func classify(err error) (result *Error) {
	defer func() {
		if p := recover(); p != nil {
			result = &Error{
				code:  ServerInternalError,
				cause: fmt.Errorf("xerror: an error of type %T panicked: %v", err, p),
			}
		}
	}()
	if e := find[*Error](err); e != nil {
		wrapped := *e
		wrapped.cause, wrapped.wrapper = err, true
		return &wrapped
	}
	code := find[*ErrorCode](err)
	if code != nil && err == error(code) { //nolint:errorlint // the code itself, which needs no cause
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

// pointer is a type of this package's errors.
type pointer interface {
	error
	*Error | *ErrorCode
}

// find returns the first T in the tree of err that is not nil, at which errors.AsType
// would stop.
func find[T pointer](err error) T {
	if found, ok := errors.AsType[T](err); !ok || found != nil {
		return found
	}
	return within(err, find[T])
}

// within returns the first answer of ask about the errors that err directly wraps, or
// nil.
func within[T pointer](err error, ask func(error) T) T {
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
		if answer := ask(e); answer != nil {
			return answer
		}
	}
	return nil
}
