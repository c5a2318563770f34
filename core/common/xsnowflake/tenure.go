package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// recordAhead is for how long one mark of a local lease permits ids, at most. A process that was
// killed leaves a mark up to this far in the future, so a node never uses more than what it rides out.
const recordAhead = 3 * time.Second

// markSlack is how far beyond the end of a lease a mark may be without a wrong clock: the skew, and an
// answer that is late.
const markSlack = skew + time.Second

// tenure is the time in which a node uses one slot.
//
// No two tenures of a slot, in whatever processes, share a time, and so no two ids are equal:
//
//   - An id of the tenure carries a time of [from, limit), by the clock of its node alone. limit only grows past a time when
//     the mark, which the slot keeps for its next holder, is at least that time already (renewLease).
//     The time is read before it is compared with limit, so that nothing changes if the process sleeps in between.
//   - from is at least the mark that the slot had when it was taken. No other clock has to be right for that, nor
//     does it matter how far the node's clock is ahead of the wall clock, or when its holder notices that the slot is lost.
//   - The mark goes back once, when the slot is released (end): to what follows the latest time that was read. limit is 0 by
//     then, and a goroutine that read a time before compared it before limit was 0, so that end sees it.
//   - If the backend may have forgotten the mark, limit is at most the end of the lease, and from is after every such time.
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
	mark     atomic.Int64 // the millisecond that the slot keeps for its next holder

	mu    sync.Mutex
	until time.Time // the end of the lease by the node's clock
	valid int64     // the millisecond of that
	ended bool      // the slot is released
}

// newTenure prepares the use of a slot that was given.
func (n *Node) newTenure(slot int) *tenure {
	t := &tenure{slot: slot, bits: n.layout.slotBits(slot)}
	t.limit.Store(n.layout.end())
	t.deadline.Store(math.MaxInt64)
	return t
}

// settle prepares the use of a slot, or releases it. Times that a former holder may have used are
// skipped by advancing the clock, and by waiting, which is told, if they are too far ahead for that.
func (n *Node) settle(ctx context.Context, t *tenure, waiting func()) (err error) {
	defer func() {
		if err != nil {
			t.lease.SetMark(t.lease.Mark()) // nothing was done under it
			_ = n.release(t)                // it ends by itself, and there is another error to return
		}
	}()
	_, now, err := n.clock.now()
	if err != nil {
		return err
	}
	t.from = max(now/int64(time.Millisecond), t.from)
	if !n.local {
		if err := n.awaitStart(ctx, t, waiting); err != nil {
			return err
		}
	}
	return n.clock.advance(t.from * int64(time.Millisecond))
}

// awaitStart waits if a former holder may have used times that are further ahead than the node rides out, or than half
// of what its lease lasts, since no id carries a time after that. It keeps the lease in the meantime.
//
// It does not wait for times so far ahead that only a wrong clock explains them; the clock then refuses to advance to them.
func (n *Node) awaitStart(ctx context.Context, t *tenure, waiting func()) error {
	span := n.left(t)
	behind := time.Duration(n.clock.maxBehind)
	bound, most := min(behind, span/2), span+max(behind, markSlack)
	for end := time.Now().Add(2 * most); ; {
		wait := n.timeOf(t.from).Sub(n.clock.time().Round(0)) - bound
		if wait <= 0 || wait > most || time.Now().After(end) {
			return nil
		}
		waiting()
		third := max(span/3, minRenewPause)
		if xretry.Sleep(ctx, min(wait, third)) != nil {
			return context.Cause(ctx)
		}
		err := n.renewOnce(ctx, t, third)
		if err != nil && (errors.Is(err, xlease.ErrLost) || n.left(t) <= 0) {
			return err
		}
	}
}

// renewOnce renews a lease that has not ended. One that has may be renewed, if no other process has
// taken it since, but what was promised with it is over.
func (n *Node) renewOnce(ctx context.Context, t *tenure, timeout time.Duration) error {
	if n.left(t) <= 0 {
		return xlease.ErrLost
	}
	until, mark, err := n.renewLease(ctx, t, timeout, 0)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n.permit(t, until, mark)
	return nil
}

// permit sets the limits of a lease that was taken or renewed: its end, and the mark.
func (n *Node) permit(t *tenure, until time.Time, mark int64) {
	if t.ended {
		return
	}
	now := n.clock.time()
	t.until, t.valid = until, min(n.millis(until), n.layout.end())
	t.deadline.Store(int64(now.Sub(n.clock.start)) + int64(until.Sub(now)))
	t.mark.Store(mark)
	t.limit.Store(min(t.valid, mark))
}

// left is how long the lease of t lasts, by the clock of the node.
func (n *Node) left(t *tenure) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.until.Sub(n.clock.time())
}

// extend permits ids of the millisecond ms, or says why there may be none.
func (n *Node) extend(ctx context.Context, t *tenure, ms, mono int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case ms >= n.layout.end():
		return fmt.Errorf("%w: the layout %q ends", ErrClock, n.layout.Name)
	case t.ended || mono >= t.deadline.Load() || ms >= t.valid:
		return fmt.Errorf("%w: it was not renewed in time", xlease.ErrLost)
	case ms < t.limit.Load():
		return nil // another goroutine has extended it
	}
	until, mark, err := n.renewLease(ctx, t, releaseTimeout, ms)
	if err != nil {
		return fmt.Errorf("xsnowflake: storing the high-water mark of slot %d: %w", t.slot, err)
	}
	n.permit(t, until, mark)
	return nil
}

// end releases the slot, with the latest time of all that were read under it as its mark. The order
// matters: limit first.
func (n *Node) end(t *tenure) error {
	if t.lease == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.limit.Store(0)
	t.lease.SetMark(t.lease.Mark())
	if last := n.lastWord() + 1; last > t.from {
		t.lease.SetMark(n.timeOf(min(last, t.mark.Load())).UnixMilli())
	}
	return n.release(t)
}

// release releases a slot that is not used any more, also if the context that it was taken in has ended.
func (n *Node) release(t *tenure) error {
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
	d := t.Round(0).Sub(n.clock.epoch)
	if d <= 0 {
		return 0
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

// timeOf is the wall clock's time of a millisecond of the layout.
func (n *Node) timeOf(ms int64) time.Time {
	return n.clock.epoch.Add(time.Duration(ms) * time.Millisecond)
}
