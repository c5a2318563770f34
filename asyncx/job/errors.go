package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// Errors returned by this package, possibly wrapped.
var (
	// ErrNotFound reports that no job with the ID exists.
	ErrNotFound = driver.ErrNotFound
	// ErrState reports that the state of the job does not allow the operation.
	ErrState = driver.ErrState
	// ErrClosed reports a call after Close.
	ErrClosed = driver.ErrClosed
	// ErrArgs reports arguments that are too large or cannot be encoded or decoded.
	ErrArgs = errors.New("invalid arguments")
	// ErrOption reports an invalid option.
	ErrOption = errors.New("invalid option")
	// ErrTransaction reports a job that would be stored even if the surrounding
	// transaction rolls back.
	ErrTransaction = errors.New("the engine does not support database transactions")
)

// deadError is the error of Dead.
type deadError struct{ err error }

// Error implements error.
func (e *deadError) Error() string { return e.err.Error() }

// Unwrap returns the error that was passed to Dead.
func (e *deadError) Unwrap() error { return e.err }

// Dead wraps err. If a handler returns it, the job is dead-lettered without a retry.
// Dead(nil) is nil.
func Dead(err error) error {
	if err == nil {
		return nil
	}
	return &deadError{err}
}

// retryError is the error of RetryAfter.
type retryError struct {
	err  error
	wait time.Duration
}

// Error implements error.
func (e *retryError) Error() string { return e.err.Error() }

// Unwrap returns the error that was passed to RetryAfter.
func (e *retryError) Unwrap() error { return e.err }

// RetryAfter wraps err. If a handler returns it, the next attempt starts after wait
// instead of the backoff of the kind. RetryAfter(nil, wait) is nil.
func RetryAfter(err error, wait time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryError{err, max(wait, 0)}
}

// snoozeError is the error of Snooze.
type snoozeError struct{ wait time.Duration }

// Error implements error.
func (e *snoozeError) Error() string { return fmt.Sprintf("snoozed for %s", e.wait) }

// Snooze returns an error that postpones the job by wait if a handler returns it. The
// attempt does not count.
func Snooze(wait time.Duration) error { return &snoozeError{max(wait, 0)} }
