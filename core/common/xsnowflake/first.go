package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// firstLease is an attempt to lease the node ID. Callers share it.
type firstLease struct {
	done chan struct{}
	err  error // valid after done is closed
}

// over reports whether the attempt has ended.
func (f *firstLease) over() bool {
	select {
	case <-f.done:
		return true
	default:
		return false
	}
}

// Lease leases the node ID before the first id does, and waits for it until ctx ends; the attempt goes
// on then. It returns nil at once if the node has a node ID.
func (n *Node) Lease(ctx context.Context) error {
	for {
		t := n.tenure.Load()
		switch {
		case t == nil:
			return ErrClosed
		case !t.pending:
			return nil
		}
		if err := n.leaseFirst(ctx, t); err != nil && n.tenure.Load() == t {
			return err
		}
	}
}

// leaseFirst waits for the node ID of t, a pending tenure, which is then no longer the node's.
func (n *Node) leaseFirst(ctx context.Context, t *tenure) error {
	f, err := n.attempt(t)
	if f == nil {
		return err
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return fmt.Errorf("xsnowflake: waiting for a node ID: %w", context.Cause(ctx))
	}
}

// attempt returns the attempt in progress, or starts one. It is nil if t is no longer the node's tenure.
func (n *Node) attempt(t *tenure) (*firstLease, error) {
	n.change.Lock()
	defer n.change.Unlock()
	switch {
	case n.closed:
		return nil, ErrClosed
	case n.tenure.Load() != t:
		return nil, nil // nothing is left to do
	case n.first != nil && !n.first.over():
		return n.first, nil
	}
	f := &firstLease{done: make(chan struct{})}
	n.first = f
	n.background.Go(func() {
		defer close(f.done)
		f.err = n.settleFirst(n.life)
	})
	return f, nil
}

// settleFirst leases a node ID and installs it, unless the node was closed.
func (n *Node) settleFirst(ctx context.Context) error {
	next, err := n.leaseTenure(ctx)
	n.change.Lock()
	defer n.change.Unlock()
	switch {
	case err != nil && n.closed:
		return ErrClosed
	case err != nil:
		return err
	case n.closed:
		return errors.Join(ErrClosed, n.end(next)) // the slot is released although ctx has ended
	}
	n.tenure.Store(next)
	n.background.Go(func() { n.renew(n.life) })
	return nil
}

// checkPending reports why the last attempt has failed or does not end, after trying again. Before the first
// one there is nothing to report.
func (n *Node) checkPending(ctx context.Context, t *tenure) error {
	n.change.Lock()
	asked := n.first != nil
	n.change.Unlock()
	if !asked {
		return nil
	}
	if !n.waiting.Load() {
		if err := n.leaseSoon(ctx, t); err == nil || !n.waiting.Load() {
			return err
		}
	}
	return ErrWaiting
}

// leaseSoon is leaseFirst in half of the time that ctx has, so that its caller still has some if the node begins to
// wait in the meantime.
func (n *Node) leaseSoon(ctx context.Context, t *tenure) error {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/2)
		defer cancel()
	}
	return n.leaseFirst(ctx, t)
}
