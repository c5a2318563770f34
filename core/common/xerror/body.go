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

// MarkBody marks err as an error of reading a request body, so that From recognizes it
// even if it is wrapped later. From maps a marked error as follows:
//
//   - io.ErrUnexpectedEOF becomes BodyError.
//   - A timeout becomes ReadTimeout, because the client sends too slowly.
//   - A broken connection becomes Canceled, because the client closed it.
//   - An unknown error becomes BodyError.
//
// Files, databases and other services return the same errors, but those are not the
// client's fault. Plinth's request middleware marks the errors of request bodies. Other
// body readers must call MarkBody. MarkBody returns nil and io.EOF unchanged.
func MarkBody(err error) error {
	if err == nil || err == io.EOF { // readers compare with ==
		return err
	}
	return &bodyError{err}
}

type bodyError struct{ error }

// Unwrap returns the reader's error.
func (e *bodyError) Unwrap() error { return e.error }

// bodyMappers map the errors that have another meaning in a request body.
var bodyMappers = mapperGroup{
	MapIs(io.ErrUnexpectedEOF, BodyError),
	MapIs(os.ErrDeadlineExceeded, ReadTimeout),
	MapAs[*net.OpError](Canceled),
	MapIs(net.ErrClosed, Canceled),
	MapIs(syscall.ECONNRESET, Canceled),
	MapIs(syscall.ECONNABORTED, Canceled),
	MapIs(syscall.EPIPE, Canceled),
	// last, because net/http cancels the request context after any error above
	MapIs(context.Canceled, Canceled),
}

// markedCode returns the code of an error that MarkBody marked, or nil.
func markedCode(err error) *ErrorCode {
	marked, ok := errors.AsType[*bodyError](err)
	if !ok {
		return nil
	}
	return cmp.Or(bodyMappers.code(marked.error), standardMappers.code(marked.error), BodyError)
}
