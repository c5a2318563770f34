package xsnowflake_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// With a short lease the wait is until ids fit into it, and Renew fails once meanwhile.
func TestAShortLeaseIsWaitedForUntilItCanBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{floor: time.Now().Add(3 * time.Second), failures: 1}
		start := time.Now()
		n, err := leasedNode(t, xsnowflake.WithLeases(xlease.New(s), 3*time.Second), bubble())
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("Lease took %v, want 2 s: 3 s ahead, of which half a lease is ridden out",
				took)
		}
		id, err := n.Generate()
		if err != nil || n.TimeOf(id).Before(start.Add(3*time.Second)) {
			t.Errorf("the first id = %v, %v; want one of a time after the former holder's",
				n.TimeOf(id).Sub(start), err)
		}
	})
}

func TestCloseDoesNotWaitForANumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		s.set(func(s *shop) { s.holder[0], s.floor = "", time.Now().Add(50*time.Second) })
		<-time.After(11 * time.Second) // the loss is noticed, and the next number is waited for
		start := time.Now()
		if err := n.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("Close = %v after %v, want nil at once", err, time.Since(start))
		}
	})
}

// What a tenure has handed out is below what it leaves to the next holder, also of those
// that were taken while it ended.
func TestTheMarkThatIsLeftIsAboveEveryID(t *testing.T) {
	for range 50 {
		a := &shop{next: 5}
		n, err := xsnowflake.NewNode(leases(a))
		if err != nil {
			t.Fatal(err)
		}
		var callers, busy sync.WaitGroup
		latest := make([]time.Time, 2)
		busy.Add(len(latest))
		for i := range latest {
			callers.Go(func() {
				latest[i] = n.MustGenerate().Time()
				busy.Done()
				for {
					id, err := n.Generate()
					if err != nil || id.NodeID() != 5 {
						return
					}
					latest[i] = id.Time()
				}
			})
		}
		busy.Wait()
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		callers.Wait()
		a.set(func(s *shop) {
			for _, at := range latest {
				if !at.Before(s.recorded) {
					t.Errorf("an id is of %v, and the mark %v", at, s.recorded)
				}
			}
		})
	}
}

// lossy gives out slots, each once, and reports at the first renewal that it is lost:
// long before its time is over.
type lossy struct {
	shop

	marks [64]time.Time
}

func (l *lossy) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	<-time.After(3 * time.Millisecond) // in the meantime the old one is released, and asked for
	defer l.set(func(s *shop) { s.next++ })
	return l.shop.Acquire(ctx, r)
}

func (l *lossy) Renew(_ context.Context, h driver.Holding) (bool, error) {
	return h.Name != xsnowflake.LeaseName, nil
}

func (l *lossy) Release(_ context.Context, h driver.Holding) (bool, error) {
	l.set(func(*shop) { l.marks[h.Slot] = time.UnixMilli(h.Mark) })
	return true, nil
}

func TestTheMarkOfALostNumberIsAboveEveryIDToo(t *testing.T) {
	const numbers = 15
	l := &lossy{}
	n, err := xsnowflake.NewNode(xsnowflake.WithLeases(xlease.New(l), 225*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var callers sync.WaitGroup
	latest := make([][64]time.Time, 4)
	for i := range latest {
		callers.Go(func() {
			for {
				id, err := n.Generate(xsnowflake.Gene(i))
				slot := id.DatacenterID()*8 + id.NodeID()
				switch {
				case errors.Is(err, xlease.ErrLost):
					continue
				case err != nil:
					t.Error(err)
					return
				case slot >= numbers:
					return
				}
				latest[i][slot] = id.Time()
			}
		})
	}
	callers.Wait()
	_ = n.Close()
	for slot := range numbers {
		for i := range latest {
			if at := latest[i][slot]; !at.IsZero() && !at.Before(l.marks[slot]) {
				t.Errorf("an id of number %d is %v after the mark", slot, at.Sub(l.marks[slot]))
			}
		}
	}
}
