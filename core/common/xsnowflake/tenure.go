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

// recordAhead is for how long one mark of a local lease permits ids, at most. A process
// that was killed leaves a mark up to this far in the future, so a node never uses more
// than what it rides out.
const recordAhead = 3 * time.Second

// markSlack is how far beyond the end of a lease a mark may be without a wrong clock: the
// skew, and an answer that is late.
const markSlack = skew + time.Second

// tenure is the time in which a node uses one slot.
//
// No two tenures of a slot, in whatever processes, share a time, and so no two ids are
// equal:
//
//   - An id of the tenure carries a time of [from, limit), by the clock of its node
//     alone. limit only grows past a time when the mark, which the slot keeps for its
//     next holder, is at least that time already (renew). The time is read before it is
//     compared with limit, so that nothing changes if the process sleeps in between.
//   - from is at least the mark that the slot had when it was taken. No other clock has
//     to be right for that, nor does it matter how far the node's clock is ahead of the
//     wall clock, or when its holder notices that the slot is lost.
//   - The mark goes back once, when the slot is released (end): to what follows the
//     latest time that was read. limit is 0 by then, and a goroutine that read a time
//     before compared it before limit was 0, so that end sees it.
//   - If the backend may have forgotten the mark, limit is at most the end of the lease,
//     and from is after every such time.
//
// Within a process the sequences, which all tenures share, only grow.
type tenure struct {
	slot    int
	bits    uint64        // the slot, placed
	from    int64         // the first millisecond it may use
	lease   *xlease.Lease // nil if the node ID is given
	pending bool          // the first id leases the node ID

	limit    atomic.Int64 // the first millisecond it may not use
	deadline atomic.Int64 // the monotonic reading from which on it may not be used

	mu   sync.Mutex // held while the lease is renewed or released
	mark int64      // the millisecond that the slot keeps for its next holder
}

// newTenure prepares the use of a slot that was given.
func (n *Node) newTenure(slot int) *tenure {
	t := &tenure{slot: slot, bits: n.layout.slotBits(slot)}
	t.limit.Store(n.layout.end())
	t.deadline.Store(math.MaxInt64)
	return t
}

// settle prepares the use of a slot that was leased. Times that a former holder may have
// used are skipped by moving the clock, and by waiting, which is told, if they are
// further ahead than the node rides out, or than half of what its lease lasts, since no
// id carries a time after that. It keeps the lease in the meantime.
//
// It does not wait for times so far ahead that only a wrong clock explains them; the
// clock then refuses to move to them.
func (n *Node) settle(t *tenure, waiting func()) error {
	_, now, err := n.clock.now()
	if err != nil {
		return err
	}
	t.from = max(now/int64(time.Millisecond), t.from)
	window, behind := n.window(), time.Duration(n.clock.maxBehind)
	bound, most := min(behind, window/2), window+max(behind, markSlack)
	for end := time.Now().Add(2 * most); !n.local; { // the marks of a local lease are near
		wait := n.timeOf(t.from).Sub(n.clock.time().Round(0)) - bound
		if wait <= 0 || wait > most || time.Now().After(end) {
			break
		}
		waiting()
		ctx, cancel := context.WithTimeout(n.life, wait)
		n.renewFor(ctx, t)
		cancel()
		if err := cmp.Or(t.lease.Err(), context.Cause(n.life)); err != nil {
			return err
		}
	}
	_, _, err = n.clock.sync(t.from * int64(time.Millisecond))
	return err
}

// renewFor renews the lease of t until ctx or the lease ends.
func (n *Node) renewFor(ctx context.Context, t *tenure) {
	t.lease.Keep(ctx, func(ctx context.Context) error { return n.renew(ctx, t, 0) })
}

// renew renews the lease of t, so that it permits ids of the millisecond ms unless that
// is 0. The backend stores the mark before the limits of t grow. A node joins its layout
// before it renews its node ID, so the layout is held for longer.
func (n *Node) renew(ctx context.Context, t *tenure, ms int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ms > 0 && ms < t.limit.Load() && t.lease.Err() == nil {
		return nil // another goroutine has renewed it
	}
	if err := n.joinLayout(ctx); err != nil {
		if errors.Is(err, errOtherLayout) {
			t.limit.Store(0) // their ids are not told apart from those of this slot
		}
		return err
	}
	asked := n.clock.time()
	mark := max(n.promise(asked, ms), t.mark)
	t.lease.SetMark(n.timeOf(mark).UnixMilli())
	err := t.lease.Renew(ctx)
	if err == nil {
		n.permit(t, asked, mark)
	}
	return err
}

// permit sets the limits of a lease that was asked for, or for its renewal, at a time:
// its end, and the mark.
func (n *Node) permit(t *tenure, asked time.Time, mark int64) {
	until := asked.Add(n.window())
	t.deadline.Store(int64(until.Sub(n.clock.start)))
	t.mark = mark
	t.limit.Store(min(n.millis(until), n.layout.end(), mark))
}

// extend permits ids of the millisecond ms under a local lease, whose marks are near. If
// it is lost, the node takes another slot.
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

// end releases the slot, with the latest time of all that were read under it as its mark:
// the mark that it had if there is none. The order matters: limit first.
func (n *Node) end(t *tenure) error {
	if t.lease == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit.Store(0)
	t.lease.SetMark(t.lease.Mark())
	if last := n.lastWord() + 1; last > t.from {
		t.lease.SetMark(n.timeOf(min(last, t.mark)).UnixMilli())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.life), releaseTimeout)
	defer cancel()
	if err := t.lease.Release(ctx); err != nil {
		return fmt.Errorf("xsnowflake: releasing slot %d: %w", t.slot, err)
	}
	return nil
}

// lastWord is the latest millisecond of all genes.
func (n *Node) lastWord() int64 {
	last := uint64(0)
	for i := range n.sequences {
		last = max(last, n.sequences[i].word.Load()&^saturated)
	}
	return int64(last >> n.layout.sequence.bits) // at most 42 bits
}

// millis is the time t in milliseconds of the layout, rounded up, and never negative.
func (n *Node) millis(t time.Time) int64 {
	return max((n.clock.wall(t)+int64(time.Millisecond)-1)/int64(time.Millisecond), 0)
}

// timeOf is the wall clock's time of a millisecond of the layout.
func (n *Node) timeOf(ms int64) time.Time {
	return n.clock.epoch.Add(time.Duration(ms) * time.Millisecond)
}
