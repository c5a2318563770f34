package xhook

import (
	"context"
	"slices"
	"time"
)

// finishGrace is how long what is cut off has to return; at most a quarter of the time that a stop has.
const finishGrace = time.Second

// Ending is how work that was in flight at a stop has ended.
type Ending uint8

// The endings.
const (
	// Finished is work that has ended by itself.
	Finished Ending = iota
	// CutOff is work that ended after it was told to.
	CutOff
	// LeftBehind is work that goes on.
	LeftBehind
)

// Finish waits for what is in flight in a hook of the stop, until done is closed. When timeout is over, and in any case two
// seconds before ctx does, it calls cut; half a second before ctx ends it gives up, so that the hook can still say what is left.
// Where ctx has less than four seconds, these times are parts of it: half and an eighth. Where it has no end, work has a second
// after cut. A timeout of 0 or less is none.
func Finish(ctx context.Context, timeout time.Duration, done <-chan struct{}, cut func()) Ending {
	grace := finishGrace
	var limits []time.Time
	deadline, bounded := ctx.Deadline()
	if bounded {
		grace = min(grace, time.Until(deadline)/4)
		limits = append(limits, deadline.Add(-2*grace))
	}
	if timeout > 0 {
		limits = append(limits, time.Now().Add(timeout))
	}
	if closedBefore(ctx, done, limits...) {
		return Finished
	}
	cut()
	last := time.Now().Add(grace)
	if bounded {
		last = deadline.Add(-grace / 2)
	}
	if closedBefore(context.WithoutCancel(ctx), done, last) {
		return CutOff
	}
	return LeftBehind
}

// closedBefore reports whether done is closed before ctx ends and the limits pass, or when they do.
func closedBefore(ctx context.Context, done <-chan struct{}, limits ...time.Time) bool {
	if len(limits) > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, slices.MinFunc(limits, time.Time.Compare))
		defer cancel()
	}
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
