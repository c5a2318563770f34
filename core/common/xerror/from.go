package xerror

import (
	"errors"
	"fmt"
	"io"
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

// FromBody is From for what came while a request body was read: there, and only there, io.EOF says
// that the body is empty and io.ErrUnexpectedEOF that it ends too early. Elsewhere the same two values
// also come from files, from other services and from databases, and say nothing about the client.
func FromBody(err error) *Error { return from(err, bodyCode) }

// from is From with one more mapper, asked last.
func from(err error, last Mapper) *Error {
	if err = present(err); err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // the error itself, not one inside it
		return e
	}
	return classify(err, last)
}

// classify finds the code of an error that is no *Error. An error whose own methods panic, such as a
// nil pointer of another package's type, is an unknown one and is not kept.
func classify(err error, last Mapper) (result *Error) {
	defer func() {
		if p := recover(); p != nil {
			result = &Error{code: ServerInternalError, cause: fmt.Errorf("xerror: an error of type %T panicked: %v", err, p)}
		}
	}()
	e, code := find(err)
	if e != nil {
		return &Error{code: e.code, message: e.message, data: e.data, cause: err, wrapper: true, logged: e.logged}
	}
	if code != nil && err == error(code) { //nolint:errorlint // the code itself, which needs no cause
		return &Error{code: code}
	}
	if code == nil {
		code = codeOf(err)
	}
	if code == nil && last != nil {
		code = last(err)
	}
	return &Error{code: code.orInternal(), cause: err}
}

// codeOf asks the mappers; nil says that nobody knows err.
func codeOf(err error) *ErrorCode {
	if c := applicationMappers.code(err); c != nil {
		return c
	}
	if c := frameworkMappers.code(err); c != nil {
		return c
	}
	return standardCode(err)
}

// bodyCode is the mapper of FromBody.
func bodyCode(err error) *ErrorCode {
	switch {
	case errors.Is(err, io.EOF):
		return BodyEmpty
	case errors.Is(err, io.ErrUnexpectedEOF):
		return BodyError
	default:
		return nil
	}
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
