package xerror

import (
	"fmt"
)

// From turns any error into an *Error.
//
// Nil stays nil, and so does a nil *Error. An *Error comes back as it is; an error around one (wrapped
// or joined, the first in the order of errors.Is) keeps its code, message and data, and so does a bare
// *ErrorCode. For any other error the registered mappers are asked: the application's, then those of
// the framework and the drivers, then those of the standard library. What nobody knows is a
// ServerInternalError. A mapped error becomes the cause and no part of the message, so its text stays
// inside the process.
func From(err error) *Error { return from(err, nil) }

// from is From with one more mapper, asked after the application's.
func from(err error, extra Mapper) *Error {
	if err = present(err); err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // the error itself, not one inside it
		return e
	}
	return classify(err, extra)
}

// classify finds the code of an error that is no *Error. An error whose own methods panic, such as a
// nil pointer of another package's type, is an unknown one and is not kept.
func classify(err error, extra Mapper) (result *Error) {
	defer func() {
		if p := recover(); p != nil {
			result = &Error{code: ServerInternalError, cause: fmt.Errorf("xerror: an error of type %T panicked: %v", err, p)}
		}
	}()
	e, code := find(err)
	if e != nil {
		return &Error{code: e.code, message: e.message, data: e.data, cause: err, wrapper: true, mapped: e.mapped, logged: e.logged, atError: e.atError}
	}
	if code != nil && err == error(code) { //nolint:errorlint // the code itself, which needs no cause
		return &Error{code: code}
	}
	if code == nil {
		code = applicationMappers.code(err)
	}
	if code != nil {
		return &Error{code: code, cause: err}
	}
	return &Error{code: codeOf(err, extra).orInternal(), cause: err, mapped: true}
}

// codeOf asks all mappers but the application's; nil means that err is unknown.
func codeOf(err error, extra Mapper) *ErrorCode {
	if c := markedCode(err); c != nil {
		return c
	}
	if extra != nil {
		if c := extra(err); c != nil {
			return c
		}
	}
	if c := frameworkMappers.code(err); c != nil {
		return c
	}
	return standardCode(err)
}

// find returns the first *Error in the tree of err, or else its first *ErrorCode. Unlike errors.As it
// passes over nil pointers.
func find(err error) (*Error, *ErrorCode) {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case *Error:
		return e, nil
	case *ErrorCode:
		return nil, e
	}
	if e := offered(err); e != nil {
		return e, nil
	}
	switch w := err.(type) { //nolint:errorlint // walks the tree itself
	case interface{ Unwrap() error }:
		return find(w.Unwrap())
	case interface{ Unwrap() []error }:
		return findIn(w.Unwrap())
	default:
		return nil, nil
	}
}

// findIn is find over the branches of a tree.
func findIn(branches []error) (*Error, *ErrorCode) {
	var code *ErrorCode
	for _, err := range branches {
		e, c := find(err)
		if e != nil {
			return e, nil
		}
		if code == nil {
			code = c
		}
	}
	return nil, code
}

// offered returns the *Error that an error of another kind turns itself into, by the As method which
// errors.As asks as well.
func offered(err error) *Error {
	if a, ok := err.(interface{ As(target any) bool }); ok {
		var e *Error
		if a.As(&e) {
			return e
		}
	}
	return nil
}
