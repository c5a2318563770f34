package cronx

import (
	"context"
	"time"
)

// Tick is one moment at which a job is due.
type Tick struct {
	// Name is the job's.
	Name string
	// Time is when the run was due, in the job's time zone, and not when it began: the
	// same on every replica.
	Time time.Time
}

// tickKey finds the Tick in a context.
type tickKey struct{}

// NewContext returns a context that carries tick, as that of a run does.
func NewContext(ctx context.Context, tick Tick) context.Context {
	return context.WithValue(ctx, tickKey{}, tick)
}

// TickFrom returns the tick of the run that ctx belongs to; ok is false where it belongs
// to none.
func TickFrom(ctx context.Context) (tick Tick, ok bool) {
	if ctx == nil {
		return Tick{}, false
	}
	tick, ok = ctx.Value(tickKey{}).(Tick)
	return tick, ok
}
