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

// renew keeps a lease that expires, until ctx ends. It renews after a third of the time that is left, so
// that a failure is followed by further attempts in ever shorter intervals; a lease that is lost is
// followed by another.
func (n *Node) renew(ctx context.Context) {
	defer close(n.done)
	for {
		t := n.tenure.Load()
		left := t.lease.ValidUntil().Sub(n.clock.time())
		if !pause(ctx, max(left/3, minPause)) {
			return
		}
		err := n.renewOnce(ctx, t, max(left*2/3, minPause))
		if err == nil {
			n.refresh(t)
			continue
		}
		expired := !n.clock.time().Before(t.lease.ValidUntil())
		if !expired && !errors.Is(err, ErrLeaseLost) {
			continue
		}
		for n.replace(ctx, t) != nil {
			if !pause(ctx, retryPause) {
				return
			}
		}
	}
}

func (n *Node) renewOnce(ctx context.Context, t *tenure, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return t.lease.Renew(ctx)
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
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	_ = n.end(ctx, old) // lost already; its other resources are what matters
	t, err := n.leaseTenure(ctx)
	if err != nil {
		return errors.Join(ErrLeaseLost, err)
	}
	n.tenure.Store(t)
	return nil
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
