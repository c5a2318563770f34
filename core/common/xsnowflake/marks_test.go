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

func TestNode_Mark_Wait(t *testing.T) {
	// With a short lease, the node waits until ids fit into it. One Renew fails during
	// the wait.
	t.Run("waits until a short lease can be used", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{minMark: time.Now().Add(3 * time.Second), failures: 1}
			start := time.Now()
			n, err := leasedNode(t, xsnowflake.WithLeases(xlease.New(s), 3*time.Second),
				bubbleEpoch())
			if err != nil {
				t.Fatal(err)
			}
			if elapsed := time.Since(start); elapsed < 2*time.Second || elapsed > 3*time.Second {
				t.Errorf("Lease took %v, want 2 s: 3 s ahead, less half the lease window", elapsed)
			}
			id, err := n.Generate()
			if err != nil || n.TimeOf(id).Before(start.Add(3*time.Second)) {
				t.Errorf("the first id = %v, %v; want an id after the times of the former holder",
					n.TimeOf(id).Sub(start), err)
			}
		})
	})

	t.Run("is canceled by Close", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{}
			n := newLeasedFrom(t, s)
			s.set(func(s *fakeBackend) {
				s.holder[0], s.minMark = "", time.Now().Add(50*time.Second)
			})
			// the node notices the loss and waits for the next node ID
			<-time.After(11 * time.Second)
			start := time.Now()
			if err := n.Close(); err != nil || time.Since(start) != 0 {
				t.Errorf("Close = %v after %v, want nil at once", err, time.Since(start))
			}
		})
	})
}

func TestNode_Mark_Release(t *testing.T) {
	// Every id of a tenure is before its final mark, including ids generated during
	// Close.
	t.Run("is after every id", func(t *testing.T) {
		for range 50 {
			a := &fakeBackend{next: 5}
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
			a.set(func(s *fakeBackend) {
				for _, at := range latest {
					if !at.Before(s.recorded) {
						t.Errorf("time of an id = %v, want it before the mark %v", at, s.recorded)
					}
				}
			})
		}
	})

	t.Run("is after every id of a lost node ID", func(t *testing.T) {
		const slots = 15
		l := &losingBackend{}
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
					case slot >= slots:
						return
					}
					latest[i][slot] = id.Time()
				}
			})
		}
		callers.Wait()
		_ = n.Close()
		for slot := range slots {
			for i := range latest {
				if at := latest[i][slot]; !at.IsZero() && !at.Before(l.marks[slot]) {
					t.Errorf("an id of node ID %d is %v after the mark",
						slot, at.Sub(l.marks[slot]))
				}
			}
		}
	})
}

// losingBackend grants each slot once. It reports the lease as lost at the first renewal,
// long before it expires.
type losingBackend struct {
	fakeBackend

	marks [64]time.Time
}

func (l *losingBackend) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	<-time.After(3 * time.Millisecond) // callers must not use the released slot in this time
	defer l.set(func(s *fakeBackend) { s.next++ })
	return l.fakeBackend.Acquire(ctx, r)
}

func (l *losingBackend) Renew(_ context.Context, h driver.Holding) (bool, error) {
	return h.Name != xsnowflake.LeaseName, nil
}

func (l *losingBackend) Release(_ context.Context, h driver.Holding) (bool, error) {
	l.set(func(*fakeBackend) { l.marks[h.Slot] = time.UnixMilli(h.Mark) })
	return true, nil
}
