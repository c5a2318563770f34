package xsnowflake

import (
	"context"
	"errors"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xretry"
)

// minRenewPause keeps a failing backend from being asked without a pause.
const minRenewPause = 50 * time.Millisecond

// retryPause is the time between two attempts to get a slot after one was lost.
const retryPause = time.Second

// takeTimeout bounds one attempt to get a slot after one was lost.
const takeTimeout = 5 * time.Second

// renew keeps the lease, until ctx ends. It renews after a third of the time that is left, so that a
// failure is followed by further attempts in ever shorter intervals; a lease that is lost is followed
// by another.
func (n *Node) renew(ctx context.Context) {
	for {
		t := n.tenure.Load()
		third := max(n.left(t)/3, minRenewPause)
		if xretry.Sleep(ctx, third) != nil {
			return
		}
		err := n.renewOnce(ctx, t, third)
		if err == nil || !errors.Is(err, xlease.ErrLost) && n.left(t) > 0 {
			continue
		}
		for n.replace(ctx, t) != nil {
			if xretry.Sleep(ctx, retryPause) != nil {
				return
			}
		}
	}
}

// replace takes another slot after old was lost, unless another goroutine has done so.
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
	_ = n.end(old) // lost already
	taking, stop := context.WithTimeout(ctx, takeTimeout)
	defer stop()
	t, err := n.take(taking)
	if err == nil {
		err = n.settle(ctx, t)
	}
	if err != nil {
		return errors.Join(xlease.ErrLost, err)
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
