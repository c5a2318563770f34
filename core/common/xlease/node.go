package xlease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	randv2 "math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// NodeName is the name whose slots are the numbers of id nodes.
const NodeName = "snowflake"

// nodeSkew is what the wall clocks of two hosts may differ where the backend has forgotten who used which time.
const nodeSkew = time.Second

// NodeLeaser hands out the numbers of id nodes as slots of NodeName, each for ttl at a time. All who share the leases use one
// TTL.
//
// Ids stay unique whatever the clocks of the hosts say: every holder leaves behind, before it makes ids, a time that they do
// not reach, by its own clock, and the next one begins after it. Where the backend may have forgotten a holder, the first
// ids carry a time after the last moment at which such a one could have made any, and the node waits for that; then the wall
// clocks of the hosts may differ by a second.
func NodeLeaser(leases *Leases, ttl time.Duration) xsnowflake.Leaser {
	return nodeLeaser{leases: leases, ttl: ttl, now: time.Now}
}

type nodeLeaser struct {
	leases *Leases
	ttl    time.Duration
	now    func() time.Time
	layout *xsnowflake.Layout // nil: unknown
}

// String says for people where numbers come from.
func (n nodeLeaser) String() string { return "a lease in " + n.leases.String() }

// WithClock implements xsnowflake.Clocked.
func (n nodeLeaser) WithClock(now func() time.Time) xsnowflake.Leaser {
	n.now = now
	return n
}

// WithLayout implements xsnowflake.LayoutAware.
func (n nodeLeaser) WithLayout(l xsnowflake.Layout) xsnowflake.Leaser {
	n.layout = &l
	return n
}

// Prepare implements xsnowflake.Preparer. On a backend that forgets it starts the records of NodeName, by
// taking a slot that is no number for a moment; a number may be that of a forgotten holder. The first holder waits for those who may have been forgotten before the records
// began, so that wait starts with the process and not with its first id. A failure costs the wait only.
func (n nodeLeaser) Prepare(ctx context.Context) error {
	if n.leases.Capabilities().Durable {
		return nil
	}
	lease, err := n.leases.Lease(ctx, NodeName, touchTTL, WithSlotRange(touchSlot, 2), WithManualRenewal(), WithMark(0, math.MaxInt64))
	if err == nil {
		lease.SetMark(lease.Mark())
		err = lease.Release(ctx)
	}
	if err != nil && !errors.Is(err, ErrHeld) {
		n.leases.log.Warn(ctx, "the records of node IDs start with the first id", slog.Any("error", err))
	}
	return nil
}

// The slots that Prepare takes, which no layout has, and how long one stays taken if the process ends there.
const (
	touchSlot = 1 << 16
	touchTTL  = time.Second
)

// Lease implements xsnowflake.Leaser. If every number is held, it waits for the TTL and one more poll: by
// then the numbers of processes that crashed before are free.
func (n nodeLeaser) Lease(ctx context.Context, first, count int) (xsnowflake.Lease, error) {
	waiting, cancel := context.WithTimeout(ctx, n.ttl+maxPoll)
	defer cancel()
	for poll := minPause; ; poll = min(poll*2, maxPoll) {
		lease, err := n.try(ctx, first, count)
		if !errors.Is(err, ErrHeld) && !errors.Is(err, errOtherLayout) {
			return lease, err
		}
		if poll == minPause {
			n.leases.log.Notice(ctx, "waiting for a node ID", slog.Duration("at_most", n.ttl), slog.Any("error", err))
		}
		if sleep(waiting, poll/2+randv2.N(poll/2+1)) { //nolint:gosec // a spread is no secret
			continue
		}
		if errors.Is(err, ErrHeld) {
			err = fmt.Errorf("%w: all %d are held in %s (stop one, set %s and %s%s)", xsnowflake.ErrNoSlot, count,
				n.leases, xenv.SnowflakeDatacenterID, xenv.SnowflakeNodeID, xsnowflake.MoreNodes(count))
		}
		return nil, errors.Join(err, context.Cause(ctx))
	}
}

// try takes a number that is free now.
func (n nodeLeaser) try(ctx context.Context, first, count int) (xsnowflake.Lease, error) {
	if err := n.joinLayout(ctx); err != nil {
		return nil, err
	}
	asked := n.now()
	mark := n.mark(asked)
	lease, err := n.leases.Lease(ctx, NodeName, n.ttl, WithSlotRange(first, count), WithManualRenewal(), WithMark(mark, asked.UnixMilli()))
	if err != nil {
		return nil, err
	}
	l := &nodeLease{leaser: n, lease: lease, mark: max(mark, lease.Mark()), notBefore: time.UnixMilli(lease.Mark())}
	l.used.Store(lease.Mark())
	l.until.Store(n.until(asked))
	if unknown := LeaseWindow(n.ttl) - lease.Age(); unknown > 0 && !n.leases.Capabilities().Durable {
		// Who was forgotten renewed before the records of now began, which was Age before some moment between asked and now.
		l.notBefore = time.UnixMilli(max(lease.Mark(), n.now().Add(unknown+nodeSkew).UnixMilli()))
		n.leases.log.Notice(ctx, "no record of the id nodes so far: the first ids wait for those that may have been forgotten",
			slog.Duration("at_most", unknown+nodeSkew))
	}
	n.leases.log.Info(ctx, "number of the id node leased", slog.Int("slot", lease.Slot()), slog.String("in", n.leases.String()))
	return l, nil
}

// until is when a lease that was asked for or renewed at a time ends.
func (n nodeLeaser) until(asked time.Time) *time.Time {
	until := asked.Add(LeaseWindow(n.ttl))
	return &until
}

// mark is a time, in milliseconds, that ids do not reach under a lease that was asked for or renewed at a time. It is later
// than until, which node clocks round up.
func (n nodeLeaser) mark(asked time.Time) int64 { return n.until(asked).Add(nodeSkew).UnixMilli() }

// nodeLease is a Lease and a Recorder of xsnowflake.
type nodeLease struct {
	leaser    nodeLeaser
	lease     *Lease
	notBefore time.Time
	mark      int64 // what the backend was told last; used by Renew alone

	until atomic.Pointer[time.Time] // by the clock of the node; the backend has a later mark
	used  atomic.Int64              // the time that ids do not reach, for the next holder
}

// Slot implements xsnowflake.Lease.
func (l *nodeLease) Slot() int { return l.lease.Slot() }

// ValidUntil implements xsnowflake.Lease.
func (l *nodeLease) ValidUntil() time.Time { return *l.until.Load() }

// Renew implements xsnowflake.Lease. The mark is at the backend before ValidUntil grows.
func (l *nodeLease) Renew(ctx context.Context) error {
	if err := l.leaser.joinLayout(ctx); err != nil {
		return nodeError(err)
	}
	asked := l.leaser.now()
	l.mark = max(l.mark, l.leaser.mark(asked))
	l.lease.SetMark(l.mark)
	err := l.lease.Renew(ctx)
	if err == nil {
		l.until.Store(l.leaser.until(asked))
	}
	return nodeError(err)
}

// Release implements xsnowflake.Lease.
func (l *nodeLease) Release(ctx context.Context) error {
	l.lease.SetMark(l.used.Load())
	return nodeError(l.lease.Release(ctx))
}

// NotBefore implements xsnowflake.Recorder.
func (l *nodeLease) NotBefore() time.Time { return l.notBefore }

// Record implements xsnowflake.Recorder. What the backend has is later than any id, so there is nothing to write: the time
// goes out with the release.
func (l *nodeLease) Record(until time.Time) error {
	l.used.Store(until.UnixMilli())
	return nodeError(l.lease.Err())
}

// nodeError gives a loss the name that it has for nodes.
func nodeError(err error) error {
	if errors.Is(err, ErrLost) || errors.Is(err, ErrReleased) || errors.Is(err, errOtherLayout) {
		return fmt.Errorf("%w: %w", xsnowflake.ErrLeaseLost, err)
	}
	return err
}
