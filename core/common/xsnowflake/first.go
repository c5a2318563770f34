package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// firstLease is an attempt to lease the number of a node that leases on first use. Callers share it.
type firstLease struct {
	done chan struct{}
	stop context.CancelFunc
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

// pendingTenure returns a tenure without a slot.
func (n *Node) pendingTenure(ctx context.Context, from Leaser) (*tenure, error) {
	if _, _, err := n.clock.now(); err != nil {
		return nil, err
	}
	if p, ok := n.prepare(from).(Preparer); ok {
		if err := p.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	return &tenure{leaser: from, pending: true}, nil
}

// Lease leases the number of a node that leases on first use, and waits for it until ctx ends; the attempt
// goes on then. It returns nil at once if the node has a number.
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

// leaseFirst waits for the number of t, a pending tenure, which is then no longer the node's.
func (n *Node) leaseFirst(ctx context.Context, t *tenure) error {
	f, err := n.attempt(t) //nolint:contextcheck // the attempt ends with the node
	if f == nil {
		return err
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return fmt.Errorf("xsnowflake: waiting for a node number: %w", context.Cause(ctx))
	}
}

// attempt returns the attempt under way, or starts one. It is nil if t is no longer the node's tenure.
func (n *Node) attempt(t *tenure) (*firstLease, error) {
	n.change.Lock()
	defer n.change.Unlock()
	switch {
	case n.closed:
		return nil, ErrClosed
	case n.tenure.Load() != t:
		return nil, nil //nolint:nilnil // nothing is left to do
	case t.first != nil && !t.first.over():
		return t.first, nil
	}
	f := &firstLease{done: make(chan struct{})}
	ctx, stop := context.WithCancel(n.life)
	f.stop, t.first = stop, f
	n.attempts.Go(func() {
		defer close(f.done)
		defer stop()
		f.err = n.settleFirst(ctx, t)
	})
	return f, nil
}

// settleFirst leases a number and installs it in the place of t, unless the node was closed or moved.
func (n *Node) settleFirst(ctx context.Context, t *tenure) error {
	next, err := n.leaseTenure(ctx, t.leaser)
	n.change.Lock()
	defer n.change.Unlock()
	switch moved := n.tenure.Load() != t; {
	case err != nil && n.closed:
		return ErrClosed
	case err != nil:
		return err
	case n.closed || moved:
		return errors.Join(ErrClosed, n.end(next)) //nolint:contextcheck // the slot is given back although ctx has ended
	}
	n.install(next) //nolint:contextcheck // a renewal ends with the node
	return nil
}

// checkPending reports why the last attempt has failed or does not end, after trying again. Before the first
// one there is nothing to report.
func (n *Node) checkPending(ctx context.Context, t *tenure) error {
	n.change.Lock()
	asked := t.first != nil
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
