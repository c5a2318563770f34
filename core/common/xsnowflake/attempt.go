package xsnowflake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// retryPause is the time between two attempts to replace a node ID that was lost.
const retryPause = time.Second

// attempt is an attempt to lease a node ID: the first one, or another one after a loss.
// Callers share it.
type attempt struct {
	running bool          // guarded by Node.change
	waiting chan struct{} // closed when the attempt has its node ID, and awaits its first time
	done    chan struct{}
	err     error // valid after done is closed
}

// Lease leases the node ID before the first id does, and waits for it until ctx ends; the
// attempt goes on then. It returns nil at once if the node has a node ID.
func (n *Node) Lease(ctx context.Context) error {
	for {
		t := n.tenure.Load()
		if !t.pending {
			return nil
		}
		if err := n.replace(ctx, t, false); err != nil && n.tenure.Load() == t {
			return err
		}
	}
}

// replace waits until another tenure has taken the place of t, which is pending or lost,
// or until the attempt at that has failed. With report it returns ErrWaiting while the
// attempt awaits its first time.
func (n *Node) replace(ctx context.Context, t *tenure, report bool) error {
	a, err := n.attempt(t)
	if a == nil {
		return err
	}
	var waiting chan struct{}
	if report {
		waiting = a.waiting
	}
	select {
	case <-a.done:
		return a.err
	case <-waiting:
		return ErrWaiting
	case <-ctx.Done():
		return fmt.Errorf("xsnowflake: waiting for a node ID: %w", context.Cause(ctx))
	}
}

// attempt returns the attempt in progress, or starts one. It is nil if t is no longer the
// node's tenure.
func (n *Node) attempt(t *tenure) (*attempt, error) {
	n.change.Lock()
	defer n.change.Unlock()
	switch a := n.last.Load(); {
	case n.closed():
		return nil, ErrClosed
	case n.tenure.Load() != t:
		return nil, nil // nothing is left to do
	case a != nil && a.running:
		return a, nil
	}
	a := &attempt{running: true, waiting: make(chan struct{}), done: make(chan struct{})}
	n.last.Store(a)
	n.background.Go(func() { n.run(a, t) })
	return a, nil
}

// run leases a node ID and installs it in the place of old, unless the node was closed.
func (n *Node) run(a *attempt, old *tenure) {
	_ = n.end(old) // lost already, if it had a lease
	next, err := n.take()
	if err == nil {
		if err = n.settle(next, sync.OnceFunc(func() { close(a.waiting) })); err != nil {
			_ = n.end(next) // it ends by itself, and there is another error to return
		}
	}
	n.change.Lock()
	defer n.change.Unlock()
	a.running = false
	closed := n.closed()
	switch {
	case err != nil && closed:
		a.err = ErrClosed
	case err != nil && !old.pending:
		a.err = errors.Join(xlease.ErrLost, err)
	case err != nil:
		a.err = err
	case closed:
		// the slot is released although n.life has ended
		a.err = errors.Join(ErrClosed, n.end(next))
	default:
		n.tenure.Store(next)
		n.background.Go(func() { n.keep(next) })
	}
	close(a.done)
}

// keep renews the lease of t until it is lost, and then has another one take its place.
func (n *Node) keep(t *tenure) {
	n.renewFor(n.life, t)
	for n.replace(n.life, t, false) != nil {
		if xretry.Sleep(n.life, retryPause) != nil {
			return
		}
	}
}
