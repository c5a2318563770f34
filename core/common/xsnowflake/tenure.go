package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// recordAhead is for how long one record of the high-water mark permits ids, at most. A process that was
// killed leaves a mark up to this far in the future, so a node never uses more than what it rides out.
const recordAhead = 3 * time.Second

// markSlack is how far beyond the end of a lease a mark may be without a wrong clock: a Leaser may add a second for hosts
// whose clocks differ, and its answer may take a while.
const markSlack = 2 * time.Second

// tenure is the time in which a node uses one slot.
//
// No two tenures of a slot, in whatever processes, share a time, and so no two ids are equal:
//
//   - An id of the tenure carries a time of [from, limit), by the clock of its node alone. limit only grows past a time when
//     the mark, which the slot keeps for its next holder, is at least that time already (extend, or Renew before refresh).
//     The time is taken before it is compared with limit, so that nothing changes where the process sleeps in between.
//   - from is at least the mark that the slot had when it was taken (settle). Nobody's clock has to be right for that, nor
//     does it matter how far the node's clock is ahead of the wall clock, or when its holder learns that the slot is lost.
//   - The mark goes back once, when the slot is released (end): to what follows the latest time that was taken. limit is 0 by
//     then, and who took a time before compared it before limit was 0, so that end sees it.
//   - Where a Leaser may have forgotten the mark, limit is at most ValidUntil, and NotBefore is after every such time.
//
// Within a process the sequences, which all tenures share, only grow.
type tenure struct {
	slot    int
	bits    uint64 // the slot, placed
	from    int64  // the first millisecond it may use
	leaser  Leaser // nil where the number is given
	lease   Lease  // nil where the number is given
	expires bool   // the lease needs renewal
	pending bool   // the first id leases the number

	limit    atomic.Int64 // the first millisecond it may not use
	deadline atomic.Int64 // the monotonic reading from which on it may not be used

	mu    sync.Mutex
	rec   Recorder // nil where the lease has none
	valid int64    // the millisecond at which the lease ends
	mark  int64    // the millisecond up to which ids are recorded
	ended bool     // the slot is given back

	first *firstLease // of a pending tenure; guarded by change of the node
}

// newTenure prepares the use of a slot that was given.
func (n *Node) newTenure(slot int) *tenure {
	t := &tenure{slot: slot, bits: n.pack.slotBits(slot), valid: n.pack.end, mark: n.pack.end}
	t.limit.Store(n.pack.end)
	t.deadline.Store(math.MaxInt64)
	return t
}

// leaseTenure takes a slot and prepares its use.
func (n *Node) leaseTenure(ctx context.Context, from Leaser) (*tenure, error) {
	from = n.prepare(from)
	lease, err := n.take(ctx, from)
	if err != nil {
		return nil, err
	}
	return n.settle(ctx, from, lease)
}

// prepare gives a leaser the clock and the layout of the node.
func (n *Node) prepare(from Leaser) Leaser {
	if c, ok := from.(Clocked); ok {
		from = c.WithClock(n.clock.time)
	}
	if l, ok := from.(LayoutAware); ok {
		from = l.WithLayout(n.layout)
	}
	return from
}

// take takes a slot.
func (n *Node) take(ctx context.Context, from Leaser) (Lease, error) {
	lease, err := from.Lease(ctx, n.firstSlot, n.slotCount)
	if err != nil {
		return nil, err
	}
	if slot := lease.Slot(); slot < n.firstSlot || slot >= n.firstSlot+n.slotCount {
		n.giveBack(lease) //nolint:contextcheck // see there
		return nil, fmt.Errorf("xsnowflake: the leaser gave slot %d (accepted: %d to %d)", slot, n.firstSlot, n.firstSlot+n.slotCount-1)
	}
	return lease, nil
}

// giveBack releases a lease that was never used, also where the context in which it was taken has ended.
func (n *Node) giveBack(lease Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(n.life), releaseTimeout)
	defer cancel()
	_ = lease.Release(ctx) // it becomes free by itself, and there is another error to return
}

// settle prepares the use of a slot. Times that a former holder may have used are skipped by advancing the clock, and by
// waiting where they are too far ahead for that.
func (n *Node) settle(ctx context.Context, from Leaser, lease Lease) (*tenure, error) {
	t := n.newTenure(lease.Slot())
	t.leaser, t.lease, t.expires = from, lease, !lease.ValidUntil().IsZero()
	if err := n.start(ctx, t); err != nil {
		n.giveBack(lease) //nolint:contextcheck // see there
		return nil, err
	}
	n.refresh(t)
	return t, nil
}

func (n *Node) start(ctx context.Context, t *tenure) error {
	_, now, err := n.clock.now()
	if err != nil {
		return err
	}
	t.from = now/int64(time.Millisecond) + 1 // a former holder may have used this millisecond
	if rec, ok := t.lease.(Recorder); ok {
		t.rec, t.mark = rec, 0
		t.from = max(t.from-1, n.millis(rec.NotBefore()))
	}
	if t.expires {
		if err := n.awaitStart(ctx, t); err != nil {
			return err
		}
	}
	return n.clock.advance(t.from * int64(time.Millisecond))
}

// awaitStart waits where a former holder may have used times that are further ahead than the node rides out, or than half
// of what its lease lasts, since no id carries a time after that. It keeps the lease meanwhile.
//
// It does not wait for times so far ahead that only a wrong clock explains them; the clock then refuses to advance to them.
func (n *Node) awaitStart(ctx context.Context, t *tenure) error {
	defer n.waiting.Store(false)
	span := t.lease.ValidUntil().Sub(n.clock.time())
	behind := time.Duration(n.clock.maxBehind)
	bound, most := min(behind, span/2), span+max(behind, markSlack)
	for end := time.Now().Add(2 * most); ; {
		wait := n.timeOf(t.from).Sub(n.clock.time().Round(0)) - bound
		if wait <= 0 || wait > most || time.Now().After(end) {
			return nil
		}
		n.waiting.Store(true)
		third := max(span/3, minPause)
		if !pause(ctx, min(wait, third)) {
			return context.Cause(ctx)
		}
		err := n.renewOnce(ctx, t.lease, third)
		if err != nil && (errors.Is(err, ErrLeaseLost) || !n.clock.time().Before(t.lease.ValidUntil())) {
			return err
		}
	}
}

// refresh sets the limits of a lease that was just taken or renewed.
func (n *Node) refresh(t *tenure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return
	}
	if t.expires {
		until, now := t.lease.ValidUntil(), n.clock.time()
		t.valid = min(n.millis(until), n.pack.end)
		t.deadline.Store(int64(now.Sub(n.clock.start)) + int64(until.Sub(now)))
	}
	t.limit.Store(min(t.valid, t.mark))
}

// extend permits ids of the millisecond ms, or says why there may be none.
func (n *Node) extend(t *tenure, ms, mono int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case ms >= n.pack.end:
		return fmt.Errorf("%w: the layout %q ends", ErrClockStopped, n.layout.Name)
	case ms >= t.valid || mono >= t.deadline.Load():
		return fmt.Errorf("%w: it was not renewed in time", ErrLeaseLost)
	case ms < t.limit.Load():
		return nil // another goroutine has recorded
	}
	mark := ms + n.recordAhead
	if err := t.rec.Record(n.timeOf(mark)); err != nil {
		return fmt.Errorf("xsnowflake: recording the high-water mark of slot %d: %w", t.slot, err)
	}
	t.mark = mark
	t.limit.Store(min(t.valid, t.mark))
	return nil
}

// end gives the slot back, and records the latest time of all that were handed out with it. The order matters: limit first.
func (n *Node) end(t *tenure) error {
	if t.lease == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended, t.valid = true, 0
	t.limit.Store(0)
	if t.rec != nil && t.mark > 0 {
		// Where this fails the earlier mark stands, which is later.
		_ = t.rec.Record(n.timeOf(min(max(n.lastWord()+1, t.from), t.mark)))
		t.mark = 0 // what others use from now on is not this tenure's to record
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTimeout)
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
	return int64(last >> n.pack.seqBits) //nolint:gosec // at most 42 bits
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
