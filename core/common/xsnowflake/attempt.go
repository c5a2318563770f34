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

const retryPause = time.Second

// attempt is a running or finished attempt to lease a node ID. Concurrent callers share
// it.
type attempt struct {
	running bool          // guarded by Node.stateMu
	waiting chan struct{} // closed when a node ID is leased but its first time is in the future
	done    chan struct{}
	err     error // valid after done is closed
}

// Lease leases a node ID. If ctx is done first, Lease returns an error and the attempt
// continues in the background. Lease returns nil immediately if the node has a node ID.
// If Lease is not called, the first id leases a node ID.
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

// replace waits until another tenure replaces t, which is pending or lost, or until the
// attempt fails. If report is set and the attempt waits for its first time, replace
// returns ErrWaiting.
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

// attempt returns the running attempt, or starts one. It returns nil if t is no longer
// the tenure of the node.
func (n *Node) attempt(t *tenure) (*attempt, error) {
	n.stateMu.Lock()
	defer n.stateMu.Unlock()
	switch a := n.lastAttempt.Load(); {
	case n.closed():
		return nil, ErrClosed
	case n.tenure.Load() != t:
		return nil, nil // already replaced
	case a != nil && a.running:
		return a, nil
	}
	a := &attempt{running: true, waiting: make(chan struct{}), done: make(chan struct{})}
	n.lastAttempt.Store(a)
	n.background.Go(func() { n.run(a, t) })
	return a, nil
}

// run leases a node ID and replaces the tenure old, unless the node is closed.
func (n *Node) run(a *attempt, old *tenure) {
	_ = n.release(old) // its lease, if any, is already lost
	next, err := n.acquire()
	if err == nil {
		if err = n.activate(next, sync.OnceFunc(func() { close(a.waiting) })); err != nil {
			_ = n.release(next) // the lease expires, and err is more important
		}
	}
	n.stateMu.Lock()
	defer n.stateMu.Unlock()
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
		// release the slot although n.closeCtx is canceled
		a.err = errors.Join(ErrClosed, n.release(next))
	default:
		n.tenure.Store(next)
		n.background.Go(func() { n.keepRenewed(next) })
	}
	close(a.done)
}

// keepRenewed renews the lease of t until it is lost, and then replaces t.
func (n *Node) keepRenewed(t *tenure) {
	n.renewFor(n.closeCtx, t)
	for n.replace(n.closeCtx, t, false) != nil {
		if xretry.Sleep(n.closeCtx, retryPause) != nil {
			return
		}
	}
}
