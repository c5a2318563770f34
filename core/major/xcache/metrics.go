package xcache

import (
	"context"
	"time"
)

// Metrics is told of every operation. It is called from any goroutine and must not block.
type Metrics interface {
	Observe(ctx context.Context, e Event)
}

// MetricsFunc is a function that is Metrics.
type MetricsFunc func(ctx context.Context, e Event)

// Observe implements Metrics.
func (f MetricsFunc) Observe(ctx context.Context, e Event) { f(ctx, e) }

// Event is one operation that has ended.
type Event struct {
	// View is the name of the view, as WithName gave it.
	View    string
	Op      Op
	Outcome Outcome
	Latency time.Duration
	// Near says that a hit came out of the near cache, without the backend.
	Near bool
	// Err is nil unless Outcome is Failed.
	Err error
}

// Op names an operation.
type Op string

// The operations. Those that a view's method does not share with others are the same for all views.
const (
	OpGet    Op = "get"
	OpSet    Op = "set"
	OpExists Op = "exists"
	OpDelete Op = "delete"
	OpTTL    Op = "ttl"
	OpRead   Op = "read"   // several fields, members or elements
	OpRemove Op = "remove" // fields, members or elements
	OpPop    Op = "pop"
	OpLoad   Op = "load"  // one run of a loader
	OpScan   Op = "scan"  // one walk through keys
	OpClear  Op = "clear" // of a view
)

// Outcome says how an operation ended.
type Outcome string

// The outcomes.
const (
	Hit     Outcome = "hit"     // a read that found something; a load that did
	Miss    Outcome = "miss"    // a read that found nothing; a load that did not
	Done    Outcome = "done"    // a write that took effect
	Skipped Outcome = "skipped" // a write that NX or XX held back, or that found nothing to remove
	Failed  Outcome = "failed"
)
