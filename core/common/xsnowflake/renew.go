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

// renew keeps the lease, until the node is closed. It renews after a third of the time that is left, so that a
// failure is followed by further attempts in ever shorter intervals; a lease that is lost is followed
// by another.
func (n *Node) renew() {
	for {
		t := n.tenure.Load()
		third := max(n.left(t)/3, minRenewPause)
		if xretry.Sleep(n.life, third) != nil {
			return
		}
		err := n.renewOnce(n.life, t, third)
		if err == nil || !errors.Is(err, xlease.ErrLost) && n.left(t) > 0 {
			continue
		}
		for n.replace(t) != nil {
			if xretry.Sleep(n.life, retryPause) != nil {
				return
			}
		}
	}
}

// replace takes another slot after old was lost, unless another goroutine has done so.
func (n *Node) replace(old *tenure) error {
	n.change.Lock()
	defer n.change.Unlock()
	switch {
	case n.closed:
		return ErrClosed
	case n.tenure.Load() != old:
		return nil
	}
	_ = n.end(old) // lost already
	taking, stop := context.WithTimeout(n.life, takeTimeout)
	defer stop()
	t, err := n.take(taking)
	if err == nil {
		err = n.settle(n.life, t, func() {})
	}
	if err != nil {
		return errors.Join(xlease.ErrLost, err)
	}
	n.tenure.Store(t)
	return nil
}
