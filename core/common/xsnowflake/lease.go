package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// ErrLeaseLost means that the node may no longer use its number. Where a Leaser gave the number, the node
// asks it for another by itself.
var ErrLeaseLost = errors.New("xsnowflake: the lease on the node number is lost")

// ErrNoSlot means that every node number is taken.
var ErrNoSlot = errors.New("xsnowflake: every node number is taken")

// Leaser hands out node numbers, each to one holder at a time.
type Leaser interface {
	// Lease takes a free number of first to first+count-1. The error is an ErrNoSlot where there is none.
	Lease(ctx context.Context, first, count int) (Lease, error)
}

// Clocked is what a Leaser also implements when it looks at the time: the node hands it its own clock, so that ValidUntil and
// NotBefore mean the same to both.
type Clocked interface {
	// WithClock returns the Leaser with another clock.
	WithClock(now func() time.Time) Leaser
}

// Preparer is what a Leaser also implements if it can do something for the first lease before that: report a
// mistake in its configuration, or let a time pass that the first holder would have to wait for. A node that
// leases on first use calls it when it is made.
type Preparer interface {
	// Prepare takes no number. Its error is that of NewNode.
	Prepare(ctx context.Context) error
}

// LayoutAware is what a Leaser also implements if its holders must agree on a layout: ids of two layouts may
// be equal although their nodes have different numbers. The node passes its own.
type LayoutAware interface {
	// WithLayout returns the Leaser for nodes of a layout.
	WithLayout(l Layout) Leaser
}

// Lease is the exclusive use of a node number. ValidUntil and Record may be called while Renew runs, which
// must not keep them waiting; otherwise the node calls one method at a time.
//
// A lease that expires need not be returned in time by a holder whose machine was suspended. What keeps
// ids unique then is that no id carries a time at or after ValidUntil, and that the next holder uses no
// time before it (see Recorder), rather than the moment at which the holder notices.
type Lease interface {
	// Slot is the number.
	Slot() int
	// ValidUntil is when the lease ends unless it is renewed, by the clock of this host: the time before
	// the request that took or renewed it, plus the TTL, less what the clocks of two hosts may differ.
	// The zero time means that the lease lasts as long as the process.
	ValidUntil() time.Time
	// Renew extends a lease that expires. The error is an ErrLeaseLost where someone else holds the slot,
	// or may hold it.
	Renew(ctx context.Context) error
	// Release gives the slot back.
	Release(ctx context.Context) error
}

// Recorder is what a Lease also implements when its slot remembers the times of former holders' ids, so
// that a clock that was set back, or differs from theirs, repeats none.
type Recorder interface {
	// NotBefore is the first time that no former holder may have used.
	NotBefore() time.Time
	// Record keeps the promise that this holder uses no time at or after until. The node calls it before
	// it makes ids with a later time, a few seconds ahead, on the goroutine that asked for the id: a lease
	// over the network does better to record ValidUntil when it renews, and to do nothing here. The last
	// call, before Release, may bring the promise forward. The error is an ErrLeaseLost where the slot is no
	// longer the holder's.
	Record(until time.Time) error
}

// MoreNodes is the hint for an error about count node numbers, all of which are taken: the layout with more,
// or nothing if this is one.
func MoreNodes(count int) string {
	if p := LayoutWide.packing(); count < p.slots() {
		return fmt.Sprintf(", or set %s=%s for all replicas, which has %d", xenv.SnowflakeLayout, LayoutWide.Name, p.slots())
	}
	return ""
}
