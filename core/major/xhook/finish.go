package xhook

import (
	"context"
	"errors"
	"time"
)

// finishGrace is how long what is cut off has to return; at most a quarter of the time that a stop has.
const finishGrace = time.Second

// The errors of Finish.
var (
	// ErrForced means that the work ended only after cut was called.
	ErrForced = errors.New("xhook: work ended after it was cut off")
	// ErrAbandoned means that the work goes on.
	ErrAbandoned = errors.New("xhook: work goes on after it was cut off")
)

// Finish waits, in a hook of the stop, until work in flight closes done. It calls cut when timeout has
// passed, and in any case two seconds before ctx ends; half a second before that end it returns, so that
// the hook can still report what is left. If ctx has less than four seconds, these times are half and
// an eighth of it. If ctx has no deadline, the work has a second after cut. A timeout of 0 or less is
// none.
//
// The error is nil if the work ended by itself, ErrForced or ErrAbandoned.
func Finish(ctx context.Context, timeout time.Duration, done <-chan struct{}, cut func()) error {
	soft, cancel := context.WithCancel(ctx)
	defer cancel()
	grace := finishGrace
	deadline, bounded := ctx.Deadline()
	if bounded {
		grace = min(grace, time.Until(deadline)/4)
		soft, cancel = context.WithDeadline(soft, deadline.Add(-2*grace))
		defer cancel()
	}
	if timeout > 0 {
		soft, cancel = context.WithTimeout(soft, timeout)
		defer cancel()
	}
	if closedBefore(soft, done) {
		return nil
	}
	cut()
	last := time.Now().Add(grace)
	if bounded {
		last = deadline.Add(-grace / 2)
	}
	hard, cancel := context.WithDeadline(context.WithoutCancel(ctx), last)
	defer cancel()
	if closedBefore(hard, done) {
		return ErrForced
	}
	return ErrAbandoned
}

// closedBefore reports whether done is closed before ctx ends, or when it does.
func closedBefore(ctx context.Context, done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}
