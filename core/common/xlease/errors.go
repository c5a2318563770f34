package xlease

import (
	"context"
	"errors"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// Errors of leases. Use errors.Is.
var (
	// ErrHeld means that another holder has the name, or all of its slots.
	ErrHeld = errors.New("xlease: held by another holder")
	// ErrLost means that the lease is lost or may be lost: it was not renewed in time, or
	// another holder has it.
	ErrLost = errors.New("xlease: the lease is lost")
	// ErrReleased means that a lease was used after Release.
	ErrReleased = errors.New("xlease: the lease was released")
	// ErrClosed means that Leases was used after Close.
	ErrClosed = errors.New("xlease: closed")
	// ErrOption means that a name, a TTL or a number of slots is invalid.
	ErrOption = errors.New("xlease: invalid option")
	// ErrUnsupported means that the backend does not support leases.
	ErrUnsupported = errors.New("xlease: the backend does not support leases")
)

// registerMapper registers the error codes when the program creates leases.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError does not map errors of contexts and backends, which have their own mappers.
func mapError(err error) *xerror.ErrorCode {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case errors.Is(err, ErrHeld):
		return xerror.LockConflict
	case errors.Is(err, ErrLost), errors.Is(err, ErrClosed):
		return xerror.ServiceUnavailable
	case errors.Is(err, ErrOption), errors.Is(err, ErrReleased):
		return xerror.DeveloperError
	case errors.Is(err, ErrUnsupported):
		return xerror.ConfigError
	default:
		return nil
	}
}
