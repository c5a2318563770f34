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

// tenure is the time in which a node uses one slot.
type tenure struct {
	slot int
	bits uint64 // the slot, placed
	from int64  // the first millisecond it may use

	limit    atomic.Int64 // the first millisecond it may not use
	deadline atomic.Int64 // the monotonic reading from which on it may not be used

	mu    sync.Mutex
	lease Lease    // nil where the number is given
	rec   Recorder // nil where the lease has none
	valid int64    // the millisecond at which the lease ends
	mark  int64    // the millisecond up to which ids are recorded
}

// newTenure prepares the use of a slot that was given.
func (n *Node) newTenure(slot int) *tenure {
	t := &tenure{slot: slot, bits: n.pack.slotBits(slot), valid: n.pack.end, mark: n.pack.end}
	t.limit.Store(n.pack.end)
	t.deadline.Store(math.MaxInt64)
	return t
}

// leaseTenure takes a slot from the leaser and waits for nothing: times that a former holder may have used
// are skipped by advancing the clock.
func (n *Node) leaseTenure(ctx context.Context) (*tenure, error) {
	lease, err := n.leaser.Lease(ctx, n.firstSlot, n.slotCount)
	if err != nil {
		return nil, err
	}
	slot := lease.Slot()
	if slot < n.firstSlot || slot >= n.firstSlot+n.slotCount {
		_ = lease.Release(ctx)
		return nil, fmt.Errorf("xsnowflake: the leaser gave slot %d (accepted: %d to %d)", slot, n.firstSlot, n.firstSlot+n.slotCount-1)
	}
	t := n.newTenure(slot)
	t.lease = lease
	_, now, err := n.clock.now()
	if err != nil {
		return nil, errors.Join(err, lease.Release(ctx))
	}
	t.from = now/int64(time.Millisecond) + 1 // a former holder may have used this millisecond
	if rec, ok := lease.(Recorder); ok {
		t.rec, t.mark = rec, 0
		t.from = max(t.from-1, n.millis(rec.NotBefore()))
	}
	if err := n.clock.advance(t.from * int64(time.Millisecond)); err != nil {
		return nil, errors.Join(err, lease.Release(ctx))
	}
	n.refresh(t)
	return t, nil
}

// refresh sets the limits of a lease that was just taken or renewed.
func (n *Node) refresh(t *tenure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := t.lease.ValidUntil(); !until.IsZero() {
		t.valid = min(n.millis(until), n.pack.end)
		now := n.clock.time()
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

// end gives the slot back, after the tenure was replaced: no id that is made from now on is handed out with
// this slot. What has been handed out is below the mark that it records.
func (n *Node) end(ctx context.Context, t *tenure) error {
	if t.lease == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rec != nil && t.mark > 0 {
		// Where this fails the earlier mark stands, which is later.
		_ = t.rec.Record(n.timeOf(min(max(n.lastWord()+1, t.from), t.mark)))
	}
	t.limit.Store(0)
	t.valid = 0
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
