package xsnowflake

import (
	"context"
	"errors"
	"time"
)

// minPause keeps a failing leaser from being asked without a pause.
const minPause = 50 * time.Millisecond

// retryPause is the time between two attempts to get a slot after one was lost.
const retryPause = time.Second

// takeTimeout bounds one attempt to get a slot after one was lost.
const takeTimeout = 5 * time.Second

// renewal is the goroutine that keeps a lease that expires.
type renewal struct {
	stop context.CancelFunc
	done chan struct{}
}

// end stops a renewal, if there is one, and waits until it uses the lease no more.
func (r *renewal) end() {
	if r != nil {
		r.stop()
		<-r.done
	}
}

// install makes t the tenure, and has it renewed where it expires. It is called with n.change held, and without a renewal.
func (n *Node) install(t *tenure) {
	n.tenure.Store(t)
	n.renewal = nil
	if t.expires {
		ctx, stop := context.WithCancel(n.life)
		n.renewal = &renewal{stop: stop, done: make(chan struct{})}
		go n.renew(ctx, n.renewal.done)
	}
}

// renew keeps a lease that expires, until ctx ends. It renews after a third of the time that is left, so
// that a failure is followed by further attempts in ever shorter intervals; a lease that is lost is
// followed by another.
func (n *Node) renew(ctx context.Context, done chan struct{}) {
	defer close(done)
	for {
		t := n.tenure.Load()
		third := max(t.lease.ValidUntil().Sub(n.clock.time())/3, minPause)
		if !pause(ctx, third) {
			return
		}
		if err := n.renewOnce(ctx, t.lease, third); err == nil {
			n.refresh(t)
			continue
		} else if !errors.Is(err, ErrLeaseLost) && n.clock.time().Before(t.lease.ValidUntil()) {
			continue
		}
		for n.replace(ctx, t) != nil {
			if !pause(ctx, retryPause) {
				return
			}
		}
	}
}

// renewOnce renews a lease that has not ended. One that has may be renewed, where nobody has taken it since, but what was
// promised with it is over.
func (n *Node) renewOnce(ctx context.Context, l Lease, timeout time.Duration) error {
	if !n.clock.time().Before(l.ValidUntil()) {
		return ErrLeaseLost
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return l.Renew(ctx)
}

// replace takes another slot after old was lost, unless somebody has done so.
func (n *Node) replace(ctx context.Context, old *tenure) error {
	n.change.Lock()
	defer n.change.Unlock()
	switch {
	case n.closed:
		return ErrClosed
	case n.tenure.Load() != old:
		return nil
	}
	ctx, cancel := n.bound(ctx)
	defer cancel()
	_ = n.end(old) //nolint:contextcheck // lost already; its other resources are what matters
	taking, stop := context.WithTimeout(ctx, takeTimeout)
	defer stop()
	lease, err := n.take(taking, old.leaser)
	if err != nil {
		return errors.Join(ErrLeaseLost, err)
	}
	t, err := n.settle(ctx, old.leaser, lease)
	if err != nil {
		return errors.Join(ErrLeaseLost, err)
	}
	n.tenure.Store(t)
	return nil
}

// bound returns a child of ctx that ends with the node too.
func (n *Node) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(n.life, func() { cancel(ErrClosed) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// pause waits for d and reports whether ctx still runs.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
