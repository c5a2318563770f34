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

// Errors for use with errors.Is.
var (
	// ErrWrongType reports that the key contains another kind of value, such as a list
	// under the key of a hash.
	ErrWrongType = driver.ErrWrongType
	// ErrClosed reports a call after Close.
	ErrClosed = driver.ErrClosed
	// ErrUnavailable reports that the backend is temporarily unavailable. Clients get
	// xerror.ServiceUnavailable.
	ErrUnavailable = driver.ErrUnavailable
	// ErrNil reports a nil value in a write. Nothing was written.
	ErrNil = errors.New("the value is nil")
	// ErrOption reports invalid options: a negative TTL, or NX and XX together. Nothing
	// was written.
	ErrOption = errors.New("invalid option")
	// ErrDecode reports that the cached data is not a value of the view's type.
	ErrDecode = errors.New("cannot decode the cached value")
	// ErrEncode reports a value or a key that cannot be encoded. Nothing was written.
	ErrEncode = errors.New("cannot encode the value")

	// ErrUnsupported reports an operation that the backend, or the view's key type, does
	// not support.
	ErrUnsupported = errors.New("not supported")
)

// Error is a failed cache operation. It wraps the backend's error.
type Error struct {
	// Op is the operation that failed, such as "get".
	Op  string
	Err error
}

// Error implements error.
func (e *Error) Error() string { return "xcache: " + e.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail wraps err in an *Error unless err already contains one.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if _, wrapped := errors.AsType[*Error](err); wrapped {
		return err
	}
	return &Error{Op: op, Err: err}
}

// errGoexit is the result of a load whose loader called runtime.Goexit.
var errGoexit = fmt.Errorf("xcache: the loader called runtime.Goexit: %w", &guard.PanicError{})

// registerMapper registers mapError with xerror once.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError maps errors of this package to CacheError, ServiceUnavailable or
// GatewayTimeout. It returns nil for context errors, which xerror maps itself.
func mapError(err error) *xerror.ErrorCode {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	if errors.Is(err, driver.ErrUnavailable) { // includes errors of leases
		if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
			return xerror.GatewayTimeout
		}
		return xerror.ServiceUnavailable
	}
	return xerror.MapAs[*Error](xerror.CacheError)(err)
}
