package xsnowflake

import (
	"context"
	"errors"
)

// UseLeaser moves a node whose number was leased to a number from another Leaser, and gives the old one back: for a service
// that knows only after its start what its processes share. A node whose number was given keeps it, and the error is nil.
//
// Ids are made all the while, with the old number until the new one can be used. Where that needs a wait, as with an expiring
// lease of a backend that may have forgotten holders, UseLeaser waits, and ctx bounds it. After an error the node is as it
// was. A node that has not leased its number yet asks l for it with the first id. Ids from before the move are unique among
// those who shared the old Leaser only.
func (n *Node) UseLeaser(ctx context.Context, l Leaser) error {
	if l == nil {
		return errors.New("xsnowflake: no leaser to move the node to")
	}
	n.using.Lock()
	defer n.using.Unlock()
	now := n.tenure.Load()
	switch {
	case now == nil:
		return ErrClosed
	case now.pending:
		next, err := n.pendingTenure(ctx, l)
		if err != nil || n.usePending(now, next) {
			return err
		}
	}
	if now = n.tenure.Load(); now == nil || now.lease == nil {
		return nil
	}
	ctx, cancel := n.bound(ctx)
	defer cancel()
	t, err := n.leaseTenure(ctx, l)
	if err != nil {
		return err
	}
	n.change.Lock()
	r := n.renewal
	n.change.Unlock()
	r.end() // it may be at its lease, which is used by one call at a time, or be looking for another
	n.change.Lock()
	defer n.change.Unlock()
	old := n.tenure.Load()
	n.install(t)   //nolint:contextcheck // a renewal ends with the node
	_ = n.end(old) //nolint:contextcheck // a number that is not given back becomes free by itself
	return nil
}

// usePending replaces the tenure of a node without a number. It reports false if the node has got one.
func (n *Node) usePending(now, next *tenure) bool {
	n.change.Lock()
	defer n.change.Unlock()
	if now.first != nil {
		now.first.stop()
	}
	return n.tenure.CompareAndSwap(now, next)
}
