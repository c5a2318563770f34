package xerror

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// MarkBody returns err so that From knows it for an error of reading a request body,
// however it is wrapped later. Only there is io.ErrUnexpectedEOF a body that ends too
// early, a timeout a client that is slow to send, and a broken connection a client that
// has closed it. Files, other services and databases return the same errors, which then
// say nothing about the client. Of an error that is otherwise unknown the client is to
// blame: it is BodyError. A reader of a request body marks its errors; the request
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

// bodyMappers map the errors that mean something else in a request body.
var bodyMappers = mapperGroup{
	MapIs(io.ErrUnexpectedEOF, BodyError),
	MapIs(os.ErrDeadlineExceeded, ReadTimeout),
	MapAs[*net.OpError](Canceled),
	MapIs(net.ErrClosed, Canceled),
	MapIs(syscall.ECONNRESET, Canceled),
	MapIs(syscall.ECONNABORTED, Canceled),
	MapIs(syscall.EPIPE, Canceled),
	// last: net/http cancels the context of the request at any error above
	MapIs(context.Canceled, Canceled),
}

// markedCode returns the code of an error that MarkBody has marked, or nil.
func markedCode(err error) *ErrorCode {
	marked, ok := errors.AsType[*bodyError](err)
	if !ok {
		return nil
	}
	return cmp.Or(bodyMappers.code(marked.error), standardMappers.code(marked.error), BodyError)
}
