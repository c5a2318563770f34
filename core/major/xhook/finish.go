package xhook

import (
	"context"
	"errors"
	"math"
	"time"
)

// finishGrace is the time that canceled work has to return. If the context has a
// deadline, the limit is at most a quarter of the remaining time.
const finishGrace = time.Second

// Errors returned by Finish.
var (
	// ErrForced means that the work returned only after it was canceled.
	ErrForced = errors.New("xhook: work returned only after it was canceled")
	// ErrAbandoned means that the work is still running.
	ErrAbandoned = errors.New("xhook: work is still running after it was canceled")
)

// Finish waits in a shutdown hook for in-flight work, until done is closed. It calls
// cancel after timeout, and no later than two seconds before the deadline of ctx. It
// returns half a second before that deadline, so that the hook can report what is still
// running. A timeout of 0 or less means no timeout.
//
// If ctx has less than four seconds left, the two margins are one half and one eighth of
// that time. If ctx has no deadline, the work has one second to return after cancel.
//
// Finish returns nil if the work finished by itself, ErrForced or ErrAbandoned.
func Finish(ctx context.Context, timeout time.Duration, done <-chan struct{}, cancel func()) error {
	grace, wait := finishGrace, time.Duration(math.MaxInt64)
	deadline, hasDeadline := ctx.Deadline()
	if hasDeadline {
		grace = min(grace, time.Until(deadline)/4)
		wait = time.Until(deadline.Add(-2 * grace))
	}
	if timeout > 0 {
		wait = min(wait, timeout)
	}
	if closedWithin(ctx, wait, done) {
		return nil
	}
	cancel()
	wait = grace
	if hasDeadline {
		wait = time.Until(deadline.Add(-grace / 2))
	}
	if closedWithin(context.WithoutCancel(ctx), wait, done) {
		return ErrForced
	}
	return ErrAbandoned
}

// closedWithin waits until done is closed, d has passed or ctx is done, and reports
// whether done is closed.
func closedWithin(ctx context.Context, d time.Duration, done <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
