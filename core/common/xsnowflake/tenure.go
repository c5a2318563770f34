package xsnowflake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

// recordAhead is the maximum time for which one mark of a local lease allows ids. A
// killed process leaves a mark up to this far in the future, so it must not exceed the
// clock tolerance of a node.
const recordAhead = 3 * time.Second

// markSlack is how far a mark may exceed the end of a lease if all clocks are correct,
// because of the skew and a late response.
const markSlack = skew + time.Second

// tenure is the period in which a node uses one slot.
//
// Two tenures of a slot, in any processes, never share a time, so ids are unique:
//
//   - The ids of a tenure have times in [from, limit), by the clock of their node. renew
//     raises limit only to times that the stored mark has reached. reserve reads the time
//     before it compares it with limit, so a pause of the process in between is harmless.
//   - from is at least the mark of the slot at acquisition. This does not depend on other
//     clocks, on the distance between the clocks of the node, or on when a holder notices
//     the loss of its slot.
//   - Only release lowers the mark, to the time after the latest time read. It sets limit
//     to 0 first, so it sees every time that was compared with an earlier limit.
//   - If the backend may have lost the mark, limit is at most the end of the lease, and
//     from is after every such time.
//
// All tenures of a process share the sequences, which only increase.
type tenure struct {
	slot    int
	bits    uint64 // the slot, shifted to its position
	from    int64  // the first allowed millisecond
	lease   *xlease.Lease
	pending bool // the first id leases the node ID

	limit    atomic.Int64 // the first millisecond that is not allowed
	deadline atomic.Int64 // the monotonic reading at which the tenure expires

	mu   sync.Mutex // held while the lease is renewed or released
	mark int64      // the mark of the slot for its next holder
}

// newTenure returns a tenure without limits for a slot.
func (n *Node) newTenure(slot int) *tenure {
	t := &tenure{slot: slot, bits: n.layout.slotBits(slot)}
	t.limit.Store(n.layout.end())
	t.deadline.Store(math.MaxInt64)
	return t
}

// activate prepares the use of a leased slot. It moves the clock past the times that a
// former holder may have used. If these times are further ahead than the clock tolerance
// or half the lease window, activate calls waiting, and waits while it renews the lease.
//
// It does not wait for times that only an incorrect clock explains. For such times the
// clock returns an error.
func (n *Node) activate(t *tenure, waiting func()) error {
	_, now, err := n.clock.now()
	if err != nil {
		return err
	}
	t.from = max(now/int64(time.Millisecond), t.from)
	window, behind := n.window(), time.Duration(n.clock.maxBehind)
	bound, maxWait := min(behind, window/2), window+max(behind, markSlack)
	// the marks of a local lease are not far ahead
	for end := time.Now().Add(2 * maxWait); !n.local; {
		wait := n.timeOf(t.from).Sub(n.clock.time().Round(0)) - bound
		if wait <= 0 || wait > maxWait || time.Now().After(end) {
			break
		}
		waiting()
		ctx, cancel := context.WithTimeout(n.closeCtx, wait)
		n.renewFor(ctx, t)
		cancel()
		if err := cmp.Or(t.lease.Err(), context.Cause(n.closeCtx)); err != nil {
			return err
		}
	}
	_, _, err = n.clock.sync(t.from * int64(time.Millisecond))
	return err
}

// renewFor renews the lease of t until ctx is done or the lease is lost.
func (n *Node) renewFor(ctx context.Context, t *tenure) {
	t.lease.Keep(ctx, func(ctx context.Context) error { return n.renew(ctx, t, 0) })
}

// renew renews the lease of t. If ms is not 0, the lease then allows ids of the
// millisecond ms. The backend stores the mark before the limits of t increase. A node
// joins its layout before it renews its node ID, so the layout lease expires later.
func (n *Node) renew(ctx context.Context, t *tenure, ms int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ms > 0 && ms < t.limit.Load() && t.lease.Err() == nil {
		return nil // another goroutine has renewed it
	}
	if err := n.joinLayout(ctx); err != nil {
		if errors.Is(err, errOtherLayout) {
			t.limit.Store(0) // ids of the other layout may collide with ids of this slot
		}
		return err
	}
	requested := n.clock.time()
	mark := max(n.nextMark(requested, ms), t.mark)
	t.lease.SetMark(n.timeOf(mark).UnixMilli())
	err := t.lease.Renew(ctx)
	if err == nil {
		n.setLimits(t, requested, mark)
	}
	return err
}

// setLimits sets the limits of a lease that was requested or renewed at the given time.
func (n *Node) setLimits(t *tenure, requested time.Time, mark int64) {
	until := requested.Add(n.window())
	t.deadline.Store(int64(until.Sub(n.clock.start)))
	t.mark = mark
	t.limit.Store(min(n.millis(until), n.layout.end(), mark))
}

// extend renews a local lease so that it allows ids of the millisecond ms. If the lease
// is lost, extend acquires another slot.
func (n *Node) extend(ctx context.Context, t *tenure, ms int64) error {
	bounded, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	err := n.renew(bounded, t, ms)
	switch {
	case err == nil:
		return nil
	case t.lease.Err() != nil:
		return n.replace(ctx, t, false)
	default:
		return fmt.Errorf("xsnowflake: storing the high-water mark of slot %d: %w", t.slot, err)
	}
}

// release releases the slot. The new mark is the time after the latest time read during
// the tenure, or the former mark. release must set limit before it reads that time.
func (n *Node) release(t *tenure) error {
	if t.lease == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit.Store(0)
	t.lease.SetMark(t.lease.Mark())
	if last := n.lastMillis() + 1; last > t.from {
		t.lease.SetMark(n.timeOf(min(last, t.mark)).UnixMilli())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.closeCtx), releaseTimeout)
	defer cancel()
	if err := t.lease.Release(ctx); err != nil {
		return fmt.Errorf("xsnowflake: releasing slot %d: %w", t.slot, err)
	}
	return nil
}

func (n *Node) lastMillis() int64 {
	last := uint64(0)
	for i := range n.sequences {
		last = max(last, n.sequences[i].word.Load()&^saturated)
	}
	return int64(last >> n.layout.sequence.bits) // at most 42 bits
}

// millis converts t to milliseconds of the layout, rounded up and never negative.
func (n *Node) millis(t time.Time) int64 {
	return max((n.clock.wall(t)+int64(time.Millisecond)-1)/int64(time.Millisecond), 0)
}

// timeOf converts a millisecond of the layout to wall clock time.
func (n *Node) timeOf(ms int64) time.Time {
	return n.clock.epoch.Add(time.Duration(ms) * time.Millisecond)
}
