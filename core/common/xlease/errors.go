package xlease

import (
	"context"
	"errors"
	"sync"

	"github.com/plinthgo/plinth/core/common/xerror"
)

// The errors that a caller may want to tell apart, with errors.Is.
var (
	// ErrHeld reports that somebody else holds the name, or all of its slots.
	ErrHeld = errors.New("xlease: held by another")
	// ErrLost reports that the lease has ended, or may have: it was not renewed in time,
	// or somebody else has it.
	ErrLost = errors.New("xlease: the lease is lost")
	// ErrReleased reports the use of a lease after Release.
	ErrReleased = errors.New("xlease: the lease was released")
	// ErrClosed reports a request after Close.
	ErrClosed = errors.New("xlease: closed")
	// ErrOption reports a name, a TTL or a number of slots that makes no sense.
	ErrOption = errors.New("xlease: wrong option")
	// ErrUnsupported reports a backend that keeps no leases.
	ErrUnsupported = errors.New("xlease: the backend keeps no leases")
)

// registerMapper tells xerror about the errors of leases, once a program has some.
var registerMapper = sync.OnceFunc(func() { xerror.RegisterMapper(mapError) })

// mapError leaves the end of a context, and what a backend says, to their own mappers.
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
