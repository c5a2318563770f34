package xhook

import (
	"context"
	"errors"
	"math"
	"time"
)

// finishGrace is how long what is cut off has to return; at most a quarter of the time
// that a stop has.
const finishGrace = time.Second

// The errors of Finish.
var (
	// ErrForced means that the work ended only after cut was called.
	ErrForced = errors.New("xhook: work ended after it was cut off")
	// ErrAbandoned means that the work goes on.
	ErrAbandoned = errors.New("xhook: work goes on after it was cut off")
)

// Finish waits, in a hook of the stop, until work in flight closes done. It calls cut
// when timeout has passed, and in any case two seconds before ctx ends; half a second
// before that end it returns, so that the hook can still report what is left. If ctx has
// less than four seconds, these times are half and an eighth of it. If ctx has no
// deadline, the work has a second after cut. A timeout of 0 or less is none.
//
// The error is nil if the work ended by itself, ErrForced or ErrAbandoned.
func Finish(ctx context.Context, timeout time.Duration, done <-chan struct{}, cut func()) error {
	grace, soft := finishGrace, time.Duration(math.MaxInt64)
	deadline, bounded := ctx.Deadline()
	if bounded {
		grace = min(grace, time.Until(deadline)/4)
		soft = time.Until(deadline.Add(-2 * grace))
	}
	if timeout > 0 {
		soft = min(soft, timeout)
	}
	if closedWithin(ctx, soft, done) {
		return nil
	}
	cut()
	hard := grace
	if bounded {
		hard = time.Until(deadline.Add(-grace / 2))
	}
	if closedWithin(context.WithoutCancel(ctx), hard, done) {
		return ErrForced
	}
	return ErrAbandoned
}

// closedWithin reports whether done is closed before d has passed or ctx ends, or just
// then.
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
