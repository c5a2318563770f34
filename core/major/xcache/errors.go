package xcache

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/internal/guard"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// The errors that a caller may want to tell apart, with errors.Is.
var (
	// ErrWrongType reports that the key holds another kind of value, such as a list under
	// a hash's key.
	ErrWrongType = driver.ErrWrongType
	// ErrClosed reports a call after Close.
	ErrClosed = driver.ErrClosed
	// ErrUnavailable reports a backend that cannot be reached, or cannot serve just now.
	// It is xerror.ServiceUnavailable to a client.
	ErrUnavailable = driver.ErrUnavailable
	// ErrNil reports a nil value in a write. Nothing was written.
	ErrNil = errors.New("the value is nil")
	// ErrOption reports options that make no sense: a negative TTL, or NX and XX
	// together. Nothing was written.
	ErrOption = errors.New("wrong option")
	// ErrDecode reports that what the cache holds is no value of the view's type.
	ErrDecode = errors.New("cannot decode the cached value")
	// ErrEncode reports a value or a key that cannot be encoded. Nothing was written.
	ErrEncode = errors.New("cannot encode the value")

	// ErrUnsupported reports what the backend, or the type of a view's keys, cannot do.
	ErrUnsupported = errors.New("not supported")
)

// Error is a failure of the cache. It wraps the backend's error.
type Error struct {
	// Op is the operation that failed, such as "get".
	Op  string
	Err error
}

// Error says the operation and the cause.
func (e *Error) Error() string { return "xcache: " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail wraps an error once.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, wrapped := errors.AsType[*Error](err); wrapped {
		return err
	}
	return &Error{Op: op, Err: err}
}

// errGoexit is the outcome of a load whose loader called runtime.Goexit.
var errGoexit = fmt.Errorf("xcache: the loader ended its goroutine: %w", &guard.PanicError{})

// registerMapper tells xerror about the cache's errors, once an application has a cache.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError gives CacheError, ServiceUnavailable or GatewayTimeout to what this package
// reports, and leaves the end of a context, which may be the cause of it, to the mappers
// of the standard library.
func mapError(err error) *xerror.ErrorCode {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if errors.Is(err, driver.ErrUnavailable) { // also what a lease says of its backend
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			return xerror.GatewayTimeout
		}
		return xerror.ServiceUnavailable
	}
	return xerror.MapAs[*Error](xerror.CacheError)(err)
}
