package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xretry"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// LeaseName is the lease name whose slots are node IDs.
const LeaseName = "snowflake"

// ErrNoSlot means that every node ID is held.
var ErrNoSlot = errors.New("xsnowflake: every node ID is held")

var errOtherLayout = errors.New("xsnowflake: id nodes with another layout share the backend")

const (
	// layoutName is the lease name that all nodes of one layout share.
	layoutName = LeaseName + ".layout"
	// skew is the maximum difference between the wall clocks of two hosts. It matters
	// only if the backend lost the records of a former holder.
	skew = time.Second
	// minPause and maxPoll limit the pause between two attempts.
	minPause = 10 * time.Millisecond
	maxPoll  = 500 * time.Millisecond
	// acquireTimeout limits one attempt to acquire a slot, in addition to the lease
	// window.
	acquireTimeout = 20 * time.Second
	// prepareSlot and the next slot are outside every layout. Prepare holds one of them
	// for at most prepareTTL.
	prepareSlot = 1 << 16
	prepareTTL  = time.Second
)

var leaseLog = xlog.WithName(xlog.NamedLEASE)

// window returns how long the node relies on its lease after a request.
func (n *Node) window() time.Duration { return xlease.LeaseWindow(n.ttl) }

// Prepare checks the configuration of the leases without leasing a node ID.
//
// On a backend that may lose records, Prepare also starts the records of node IDs by
// acquiring a slot that is not a node ID. The first holder must wait for possible holders
// from before these records. With Prepare, this wait starts at startup instead of with
// the first id. If the acquisition fails, Prepare logs a warning and returns nil.
func (n *Node) Prepare(ctx context.Context) error {
	switch {
	case n.leases == nil:
		return nil
	case n.local:
		return n.localError(n.leases.Prepare(ctx))
	case n.leases.Capabilities().Durable:
		return nil
	}
	err := n.leases.Do(ctx, LeaseName, prepareTTL,
		func(context.Context, *xlease.Lease) error { return nil },
		xlease.WithSlots(prepareSlot, 2), xlease.WithManualRenewal(),
		xlease.WithMark(0, math.MaxInt64))
	if err != nil && !errors.Is(err, xlease.ErrHeld) {
		leaseLog.Warn(ctx, "node ID records not started: the first id starts them",
			slog.Any("error", err))
	}
	return nil
}

// acquire leases a node ID. If every node ID is held, acquire retries for the TTL plus
// one poll, because the leases of crashed processes expire in that time. A local lease
// expires with its process, so acquire does not wait for it.
func (n *Node) acquire() (*tenure, error) {
	waitCtx, cancel := context.WithTimeout(n.closeCtx, n.ttl+maxPoll)
	defer cancel()
	pause := xretry.Backoff{First: minPause, Max: maxPoll}
	for first := true; ; first = false {
		t, err := n.tryAcquire()
		held := errors.Is(err, xlease.ErrHeld)
		if !held && !errors.Is(err, errOtherLayout) {
			return t, n.localError(err)
		}
		if held {
			err = fmt.Errorf("%w: all %d are held in %s: stop one, set %s and %s%s",
				ErrNoSlot, n.slotCount, n.leases,
				xenv.SnowflakeDatacenterID, xenv.SnowflakeNodeID, moreNodes(n.slotCount))
		}
		if n.local {
			return nil, err
		}
		if first {
			leaseLog.Notice(n.closeCtx, "waiting for a node ID",
				slog.Duration("at_most", n.ttl), slog.Any("error", err))
		}
		if xretry.Sleep(waitCtx, pause.Next()) != nil {
			return nil, errors.Join(err, context.Cause(n.closeCtx))
		}
	}
}

// localError adds a hint about alternatives to an error of the lease directory.
func (n *Node) localError(err error) error {
	if err == nil || !n.local {
		return err
	}
	return fmt.Errorf("%w (set %s to another directory, or %s)",
		err, leaseDirKey, xenv.SnowflakeNodeID)
}

// tryAcquire leases a node ID that is free now.
func (n *Node) tryAcquire() (*tenure, error) {
	ctx, cancel := context.WithTimeout(n.closeCtx, min(n.window(), acquireTimeout))
	defer cancel()
	if err := n.joinLayout(ctx); err != nil {
		return nil, err
	}
	requested := n.clock.time()
	mark := n.nextMark(requested, 0)
	lease, err := n.leases.Lease(ctx, LeaseName, n.ttl, xlease.WithSlots(n.firstSlot, n.slotCount),
		xlease.WithManualRenewal(),
		xlease.WithMark(n.timeOf(mark).UnixMilli(), requested.UnixMilli()))
	if err != nil {
		return nil, err
	}
	t := n.newTenure(lease.Slot())
	t.lease, t.from = lease, n.millis(time.UnixMilli(lease.Mark()))
	n.setLimits(t, requested, max(mark, t.from))
	if unrecorded := n.window() - lease.Age(); unrecorded > 0 && !n.leases.Capabilities().Durable {
		// An unrecorded holder renewed its lease before the current records started. They
		// started Age before the backend handled the request, which it did before now.
		t.from = max(t.from, n.millis(n.clock.time().Add(unrecorded+skew)))
		leaseLog.Notice(ctx, "no record of former node ID holders: the first ids wait",
			slog.Duration("at_most", unrecorded+skew))
	}
	if !n.local {
		leaseLog.Info(ctx, "node ID leased",
			slog.Int("slot", lease.Slot()), slog.String("in", n.leases.String()))
	}
	return t, nil
}

// nextMark returns the mark of the slot for a lease that is requested or renewed at the
// given time. The ids generated under the lease have earlier times than the mark. The
// mark of a local lease allows ids of the millisecond ms. It is at most recordAhead
// ahead, because a killed process cannot lower it.
func (n *Node) nextMark(requested time.Time, ms int64) int64 {
	if n.local {
		return max(n.millis(requested)-1, ms) + recordAhead.Milliseconds()
	}
	return n.millis(requested.Add(n.window() + skew))
}

// joinLayout joins the layout lease. A node joins before it acquires or renews its node
// ID, so the layout lease outlives the last node by up to a TTL.
func (n *Node) joinLayout(ctx context.Context) error {
	if n.local {
		return nil
	}
	layout := n.layout
	layout.Name = ""
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, layout) // Fprint does not fail
	err := n.leases.Join(ctx, layoutName, fmt.Sprintf("layout-%016x", sum.Sum64()), n.ttl)
	if errors.Is(err, xlease.ErrHeld) {
		return fmt.Errorf("%w: %s=%s here, another layout in %s: use one layout for all replicas; "+
			"to change it, stop all replicas for %s",
			errOtherLayout, layoutKey, n.layout.Name, n.leases, n.ttl)
	}
	return err
}

// moreNodes returns a hint about LayoutWide for an error about count held node IDs, or ""
// if LayoutWide does not have more.
func moreNodes(count int) string {
	if count >= LayoutWide.Nodes() {
		return ""
	}
	return fmt.Sprintf(", or set %s=%s for all replicas, which has %d",
		layoutKey, LayoutWide.Name, LayoutWide.Nodes())
}
