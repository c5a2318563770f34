package cronx

import (
	"context"
	"time"
)

// Tick is a time at which a job is due.
type Tick struct {
	// Name is the name of the job.
	Name string
	// Time is the due time in the job's time zone, not the start time. It is the same on
	// every replica.
	Time time.Time
}

// tickKey is the context key of the Tick.
type tickKey struct{}

// NewContext returns a context that carries tick, like the context of a run.
func NewContext(ctx context.Context, tick Tick) context.Context {
	return context.WithValue(ctx, tickKey{}, tick)
}

// TickFrom returns the tick of ctx; ok is false if ctx does not belong to a run.
func TickFrom(ctx context.Context) (tick Tick, ok bool) {
	if ctx == nil {
		return Tick{}, false
	}
	tick, ok = ctx.Value(tickKey{}).(Tick)
	return tick, ok
}
