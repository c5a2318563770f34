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

// LeaseName is the name whose slots are node IDs.
const LeaseName = "snowflake"

// ErrNoSlot means that every node ID is held.
var ErrNoSlot = errors.New("xsnowflake: every node ID is held")

// errOtherLayout means that processes with another layout hold node IDs.
var errOtherLayout = errors.New("xsnowflake: id nodes with another layout share the backend")

const (
	// layoutName is the name that all nodes of one layout hold together.
	layoutName = LeaseName + ".layout"
	// skew is what the wall clocks of two hosts may differ by if the backend has
	// forgotten which holder used which time.
	skew = time.Second
	// minPause and maxPoll bound the pause between two attempts.
	minPause = 10 * time.Millisecond
	maxPoll  = 500 * time.Millisecond
	// takeTimeout bounds one attempt to take a slot, as far as the window of its lease
	// does not.
	takeTimeout = 20 * time.Second
	// touchSlot and the one after it are slots that no layout has. Prepare takes one for
	// touchTTL at most.
	touchSlot = 1 << 16
	touchTTL  = time.Second
)

var leaseLog = xlog.WithName(xlog.NamedLEASE)

// window is how long the node relies on its lease after it asked for it.
func (n *Node) window() time.Duration { return xlease.LeaseWindow(n.ttl) }

// Prepare reports a mistake in the configuration of the leases, without leasing a node
// ID. On a backend that may forget it also starts the records of node IDs, by taking a
// slot that is no node ID: the first holder waits for those which may have been forgotten
// before the records started, so that wait starts now and not with the first id. A
// failure of that costs the wait only.
func (n *Node) Prepare(ctx context.Context) error {
	switch {
	case n.leases == nil:
		return nil
	case n.local:
		return n.localError(n.leases.Prepare(ctx))
	case n.leases.Capabilities().Durable:
		return nil
	}
	err := n.leases.Do(ctx, LeaseName, touchTTL,
		func(context.Context, *xlease.Lease) error { return nil },
		xlease.WithSlots(touchSlot, 2), xlease.WithManualRenewal(),
		xlease.WithMark(0, math.MaxInt64))
	if err != nil && !errors.Is(err, xlease.ErrHeld) {
		leaseLog.Warn(ctx, "the records of node IDs start with the first id",
			slog.Any("error", err))
	}
	return nil
}

// take leases a node ID. If every one is held, it waits for the TTL and one more poll: by
// then those of processes that crashed are free. A local lease ends with its process, so
// it does not wait.
func (n *Node) take() (*tenure, error) {
	waiting, cancel := context.WithTimeout(n.life, n.ttl+maxPoll)
	defer cancel()
	pause := xretry.Backoff{First: minPause, Max: maxPoll}
	for first := true; ; first = false {
		t, err := n.try()
		held := errors.Is(err, xlease.ErrHeld)
		if !held && !errors.Is(err, errOtherLayout) {
			return t, n.localError(err)
		}
		if held {
			err = fmt.Errorf("%w: all %d are held in %s (stop one, set %s and %s%s)",
				ErrNoSlot, n.slotCount,
				n.leases, xenv.SnowflakeDatacenterID, xenv.SnowflakeNodeID, moreNodes(n.slotCount))
		}
		if n.local {
			return nil, err
		}
		if first {
			leaseLog.Notice(n.life, "waiting for a node ID",
				slog.Duration("at_most", n.ttl), slog.Any("error", err))
		}
		if xretry.Sleep(waiting, pause.Next()) != nil {
			return nil, errors.Join(err, context.Cause(n.life))
		}
	}
}

// localError adds to an error of the folder how to do without it.
func (n *Node) localError(err error) error {
	if err == nil || !n.local {
		return err
	}
	return fmt.Errorf("%w (set %s to another folder, or %s)",
		err, leaseDirKey, xenv.SnowflakeNodeID)
}

// try leases a node ID that is free now.
func (n *Node) try() (*tenure, error) {
	ctx, cancel := context.WithTimeout(n.life, min(n.window(), takeTimeout))
	defer cancel()
	if err := n.joinLayout(ctx); err != nil {
		return nil, err
	}
	asked := n.clock.time()
	mark := n.promise(asked, 0)
	lease, err := n.leases.Lease(ctx, LeaseName, n.ttl, xlease.WithSlots(n.firstSlot, n.slotCount),
		xlease.WithManualRenewal(),
		xlease.WithMark(n.timeOf(mark).UnixMilli(), asked.UnixMilli()))
	if err != nil {
		return nil, err
	}
	t := n.newTenure(lease.Slot())
	t.lease, t.from = lease, n.millis(time.UnixMilli(lease.Mark()))
	n.permit(t, asked, max(mark, t.from))
	if unknown := n.window() - lease.Age(); unknown > 0 && !n.leases.Capabilities().Durable {
		// A forgotten holder renewed before the current records started, which was Age
		// before some moment between asked and now.
		t.from = max(t.from, n.millis(n.clock.time().Add(unknown+skew)))
		leaseLog.Notice(ctx, "no record of the id nodes so far: the first ids wait for those that may have been forgotten",
			slog.Duration("at_most", unknown+skew))
	}
	if !n.local { // of no interest to other hosts
		leaseLog.Info(ctx, "node ID leased",
			slog.Int("slot", lease.Slot()), slog.String("in", n.leases.String()))
	}
	return t, nil
}

// promise is the millisecond that ids do not reach under a lease that is asked for or
// renewed at a time. The backend stores it as the mark of the slot. That of a local lease
// permits ids of the millisecond ms, and is near, since a process that is killed leaves
// it behind.
func (n *Node) promise(asked time.Time, ms int64) int64 {
	if n.local {
		return max(n.millis(asked)-1, ms) + recordAhead.Milliseconds()
	}
	return n.millis(asked.Add(n.window() + skew))
}

// joinLayout holds the name of the layouts for that of the node. A node joins before it
// takes or renews its node ID, so the layout is held for longer: until a TTL after the
// last node.
func (n *Node) joinLayout(ctx context.Context) error {
	if n.local {
		return nil
	}
	layout := n.layout
	layout.Name = ""
	sum := fnv.New64a()
	_, _ = fmt.Fprint(sum, layout) // it does not fail
	err := n.leases.Join(ctx, layoutName, fmt.Sprintf("layout-%016x", sum.Sum64()), n.ttl)
	if errors.Is(err, xlease.ErrHeld) {
		return fmt.Errorf("%w: %s=%s here, another one in %s (all replicas use the same; after a change, stop all and wait for %s)",
			errOtherLayout, layoutKey, n.layout.Name, n.leases, n.ttl)
	}
	return err
}

// moreNodes is the hint for an error about count node IDs, all of which are held: the
// layout with more, or nothing if this is one.
func moreNodes(count int) string {
	if count >= LayoutWide.Nodes() {
		return ""
	}
	return fmt.Sprintf(", or set %s=%s for all replicas, which has %d",
		layoutKey, LayoutWide.Name, LayoutWide.Nodes())
}
