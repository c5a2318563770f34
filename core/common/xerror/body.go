package xerror

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// MarkBody returns err so that From knows it for an error of reading a request body, however it is
// wrapped later. Only there is io.ErrUnexpectedEOF a body that ends too early, a timeout a client that is
// slow to send, and a broken connection a client that has closed it. Files, other services and databases
// return the same errors, which then say nothing about the client. Of an error that is otherwise unknown
// the client is to blame: it is BodyError. A reader of a request body marks its errors; the request
// middleware of Plinth does. Nil and io.EOF come back as they are.
func MarkBody(err error) error {
	if err == nil || err == io.EOF { // readers compare with the value itself
		return err
	}
	return &bodyError{err}
}

// bodyError is an error of reading a request body.
type bodyError struct{ error }

// Unwrap returns the reader's error.
func (e *bodyError) Unwrap() error { return e.error }

// markedCode returns the code of an error that MarkBody has marked, or nil.
func markedCode(err error) *ErrorCode {
	marked, ok := errors.AsType[*bodyError](err)
	if !ok {
		return nil
	}
	var network *net.OpError
	switch err = marked.error; {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return BodyError
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ReadTimeout
	case errors.As(err, &network), errors.Is(err, net.ErrClosed),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EPIPE):
		return Canceled
	case errors.Is(err, context.Canceled): // last: net/http cancels the context of the request at any error above
		return Canceled
	}
	if c := standardCode(err); c != nil {
		return c
	}
	return BodyError
}
