package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/asyncx/job/driver"
)

// The errors that a caller may want to tell apart, with errors.Is.
var (
	// ErrNotFound reports that there is no job with the id.
	ErrNotFound = driver.ErrNotFound
	// ErrState reports that the job is not in a state in which that can be done with it.
	ErrState = driver.ErrState
	// ErrClosed reports a call after Close.
	ErrClosed = driver.ErrClosed
	// ErrArgs reports arguments that cannot be encoded, are too large, or do not decode.
	ErrArgs = errors.New("wrong arguments")
	// ErrOption reports an option that makes no sense.
	ErrOption = errors.New("wrong option")
	// ErrTransaction reports a job that would be stored although the transaction around
	// it may be rolled back.
	ErrTransaction = errors.New("the engine takes no part in the transaction of the database")
)

// deadError is an error that ends a job.
type deadError struct{ err error }

// Error implements error.
func (e *deadError) Error() string { return e.err.Error() }

// Unwrap returns what Dead was given.
func (e *deadError) Unwrap() error { return e.err }

// Dead returns an error with which a handler says that trying again is useless: the job
// is dead at once. A nil err is nil.
func Dead(err error) error {
	if err == nil {
		return nil
	}
	return &deadError{err}
}

// retryError is an error that says when to try again.
type retryError struct {
	err  error
	wait time.Duration
}

// Error implements error.
func (e *retryError) Error() string { return e.err.Error() }

// Unwrap returns what RetryAfter was given.
func (e *retryError) Unwrap() error { return e.err }

// RetryAfter returns an error with which a handler says how long to wait before the next
// attempt, instead of the kind's backoff. A nil err is nil.
func RetryAfter(err error, wait time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryError{err, max(wait, 0)}
}

// snoozeError lets a job wait without counting the attempt.
type snoozeError struct{ wait time.Duration }

// Error implements error.
func (e *snoozeError) Error() string { return fmt.Sprintf("not yet: again in %s", e.wait) }

// Snooze returns an error with which a handler says that the time has not come: the job
// waits, and the attempt does not count.
func Snooze(wait time.Duration) error { return &snoozeError{max(wait, 0)} }
