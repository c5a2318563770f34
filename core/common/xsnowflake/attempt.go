package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// firstLease is an attempt to lease the node ID. Callers share it.
type firstLease struct {
	running bool          // guarded by Node.change
	waiting chan struct{} // closed when the attempt has its node ID, and awaits its first time
	done    chan struct{}
	err     error // valid after done is closed
}

// await waits for the end of the attempt, or until it waits itself where that is asked for.
func (f *firstLease) await(ctx context.Context, waiting <-chan struct{}) error {
	select {
	case <-f.done:
		return f.err
	case <-waiting:
		return ErrWaiting
	case <-ctx.Done():
		return fmt.Errorf("xsnowflake: waiting for a node ID: %w", context.Cause(ctx))
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
	return f.await(ctx, nil)
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
	case n.first == nil || !n.first.running:
		f := &firstLease{running: true, waiting: make(chan struct{}), done: make(chan struct{})}
		n.first = f
		n.background.Go(func() { n.settleFirst(f) })
	}
	return n.first, nil
}

// settleFirst leases a node ID and installs it, unless the node was closed.
func (n *Node) settleFirst(f *firstLease) {
	next, err := n.take(n.life)
	if err == nil {
		err = n.settle(n.life, next, sync.OnceFunc(func() { close(f.waiting) }))
	}
	n.change.Lock()
	defer n.change.Unlock()
	f.running = false
	switch {
	case err != nil && n.closed:
		f.err = ErrClosed
	case err != nil:
		f.err = err
	case n.closed:
		f.err = errors.Join(ErrClosed, n.end(next)) // the slot is released although n.life has ended
	default:
		n.tenure.Store(next)
		n.background.Go(n.renew)
	}
	close(f.done)
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
	f, err := n.attempt(t)
	if f == nil {
		return err
	}
	return f.await(ctx, f.waiting)
}
