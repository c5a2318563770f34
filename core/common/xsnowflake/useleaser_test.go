package xsnowflake_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

func TestAGivenNumberStaysWhoeverHandsOutOthers(t *testing.T) {
	n := newNode(t, xsnowflake.WithNodeID(3))
	s := &shop{next: 9}
	if err := n.UseLeaser(t.Context(), s); err != nil || n.NodeID() != 3 || s.leases != 0 {
		t.Errorf("UseLeaser = %v with node %d after %d leases, want nil, 3, none", err, n.NodeID(), s.leases)
	}
	if err := n.UseLeaser(t.Context(), nil); err == nil {
		t.Error("UseLeaser accepted no leaser")
	}
	_ = n.Close()
	if err := n.UseLeaser(t.Context(), s); !errors.Is(err, xsnowflake.ErrClosed) {
		t.Errorf("UseLeaser of a closed node = %v, want ErrClosed", err)
	}
}

func TestANodeMovesToTheNumberOfAnotherLeaser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &shop{next: 5}, &shop{next: 9}
		n := leased(t, a)
		ids := generate(t, n, 100)
		if err := n.UseLeaser(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, generate(t, n, 100)...)
		distinct(t, ids)
		if id := ids[100]; id.DatacenterID() != 1 || id.NodeID() != 1 {
			t.Errorf("an id is of datacenter %d, node %d; want those of slot 9", id.DatacenterID(), id.NodeID())
		}
		if _, _, released := a.counts(); len(released) != 1 || released[0] != 5 {
			t.Errorf("released %v, want slot 5", released)
		}
		_, before, _ := a.counts()
		<-time.After(10 * time.Minute)
		generate(t, n, 1)
		_, after, _ := a.counts()
		if _, renewals, _ := b.counts(); renewals < 59 || renewals > 62 || after != before {
			t.Errorf("%d renewals of the new lease, %d of the old one; want about 60 and none", renewals, after-before)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if _, _, released := b.counts(); len(released) != 1 || released[0] != 9 {
			t.Errorf("released %v, want slot 9", released)
		}
	})
}

func TestANodeThatCannotMoveStaysAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &shop{next: 5}, &shop{broken: true}
		n := leased(t, a)
		if err := n.UseLeaser(t.Context(), b); err == nil {
			t.Error("no error of a leaser that does not answer")
		}
		b.set(func(s *shop) { s.broken, s.floor = false, time.Now().Add(time.Hour) })
		if err := n.UseLeaser(t.Context(), b); !errors.Is(err, xsnowflake.ErrClockBackward) {
			t.Errorf("UseLeaser of a number that was used an hour ahead = %v, want ErrClockBackward", err)
		}
		if _, _, released := b.counts(); len(released) != 1 {
			t.Errorf("released %v, want the number that could not be used", released)
		}
		<-time.After(10 * time.Minute)
		if id := n.MustGenerate(); id.NodeID() != 5 || !n.TimeOf(id).Equal(time.Now()) {
			t.Errorf("an id of node %d at %v, want of 5 and now", id.NodeID(), n.TimeOf(id))
		}
	})
}

// A slot whose former holder was 15 s ahead: the node rides out 5, and waits for 10, with its old number and with the lease
// of the new one kept.
func TestIDsAreMadeWhileANewNumberHasToBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &shop{next: 5}, &shop{next: 9, floor: time.Now().Add(15 * time.Second)}
		n := leased(t, a)
		var ids []xsnowflake.SnowflakeID
		start := time.Now()
		moved := make(chan error, 1)
		go func() { moved <- n.UseLeaser(t.Context(), b) }()
		for done := false; !done; {
			select {
			case err := <-moved:
				if took := time.Since(start); err != nil || took < 10*time.Second || took > 11*time.Second {
					t.Fatalf("UseLeaser = %v after %v, want nil after 10 s", err, took)
				}
				done = true
			case <-time.After(10 * time.Millisecond):
				ids = append(ids, n.MustGenerate())
			}
		}
		first := n.MustGenerate()
		if first.NodeID() != 1 || n.TimeOf(first).Before(start.Add(15*time.Second)) {
			t.Errorf("the first id of node %d is of %v after the start, want at least 15s", first.NodeID(), n.TimeOf(first).Sub(start))
		}
		distinct(t, append(ids, first))
		if _, renewals, _ := b.counts(); renewals == 0 {
			t.Error("the new lease was not renewed meanwhile")
		}
	})
}

func TestAContextEndsTheWaitForANewNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &shop{next: 5}, &shop{next: 9, floor: time.Now().Add(15 * time.Second)}
		n := leased(t, a)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := n.UseLeaser(ctx, b); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("UseLeaser = %v after %v, want DeadlineExceeded after 1s", err, time.Since(start))
		}
		go func() {
			<-time.After(time.Second)
			_ = n.Close()
		}()
		start = time.Now()
		if err := n.UseLeaser(t.Context(), b); !errors.Is(err, xsnowflake.ErrClosed) || time.Since(start) != time.Second {
			t.Errorf("UseLeaser = %v after %v, want ErrClosed at once after Close", err, time.Since(start))
		}
		if _, _, released := b.counts(); len(released) != 2 {
			t.Errorf("released %v, want both attempts", released)
		}
	})
}

// With a short lease the wait is until ids fit into it, and Renew fails once meanwhile.
func TestAShortLeaseIsWaitedForUntilItCanBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{floor: time.Now().Add(3 * time.Second), ttl: 2 * time.Second, failures: 1}
		start := time.Now()
		n := leased(t, s)
		if took := time.Since(start); took < 2*time.Second || took > 3*time.Second {
			t.Errorf("NewNode took %v, want 2 s: 3 s ahead, of which half a lease is ridden out", took)
		}
		id, err := n.Generate()
		if err != nil || n.TimeOf(id).Before(start.Add(3*time.Second)) {
			t.Errorf("the first id = %v, %v; want one of a time after the former holder's", n.TimeOf(id).Sub(start), err)
		}
	})
}

func TestCloseDoesNotWaitForANumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		s.set(func(s *shop) { s.holder[0], s.floor = nil, time.Now().Add(50*time.Second) })
		<-time.After(11 * time.Second) // the loss is noticed, and the next number is waited for
		start := time.Now()
		if err := n.Close(); err != nil || time.Since(start) != 0 {
			t.Errorf("Close = %v after %v, want nil at once", err, time.Since(start))
		}
	})
}

// Moves, losses and callers at the same time; the last move wins over nothing but the race detector.
func TestMovingUnderLoadRepeatsNothing(t *testing.T) {
	n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(xsnowflake.FileLeaser(t.TempDir())))
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var callers sync.WaitGroup
	all := make([][]xsnowflake.SnowflakeID, 4)
	for i := range all {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				id, err := n.Generate(xsnowflake.Gene(i % 2))
				if err != nil {
					t.Error(err)
					return
				}
				all[i] = append(all[i], id)
				_ = n.NodeID()
				_ = n.Source()
			}
		})
	}
	dir := t.TempDir()
	for i := range 100 {
		l := xsnowflake.FileLeaser(dir)
		if i%2 == 0 {
			l = &shop{next: i}
		}
		if err := n.UseLeaser(t.Context(), l); err != nil {
			t.Error(err)
		}
		if err := n.CheckHealth(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	callers.Wait()
	if err := n.Close(); err != nil {
		t.Error(err)
	}
	var ids []xsnowflake.SnowflakeID
	for _, part := range all {
		ids = append(ids, part...)
	}
	distinct(t, ids)
}

// What a tenure has handed out is below what it leaves to the next holder, also of those that were taken while it ended.
func TestTheMarkThatIsLeftIsAboveEveryID(t *testing.T) {
	if testing.Short() {
		t.Skip("generates ids for seconds")
	}
	for range 50 {
		a := &shop{next: 5}
		n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(a))
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
		if err := n.UseLeaser(t.Context(), &shop{next: 9}); err != nil {
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
		_ = n.Close()
	}
}

// lossy hands out numbers, each once, and says at the first renewal that it is lost: long before its time is over.
type lossy struct {
	mu     sync.Mutex
	leases []*lossyLease
}

func (l *lossy) Lease(_ context.Context, first, _ int) (xsnowflake.Lease, error) {
	<-time.After(3 * time.Millisecond) // meanwhile the old number is given back, and asked for
	l.mu.Lock()
	defer l.mu.Unlock()
	lease := &lossyLease{slot: first + len(l.leases), until: time.Now().Add(150 * time.Millisecond)}
	l.leases = append(l.leases, lease)
	return lease, nil
}

type lossyLease struct {
	slot        int
	until, mark time.Time
}

func (l *lossyLease) Slot() int                     { return l.slot }
func (l *lossyLease) ValidUntil() time.Time         { return l.until }
func (l *lossyLease) Renew(context.Context) error   { return xsnowflake.ErrLeaseLost }
func (l *lossyLease) Release(context.Context) error { return nil }
func (l *lossyLease) NotBefore() time.Time          { return time.Time{} }

func (l *lossyLease) Record(until time.Time) error {
	l.mark = until
	return nil
}

func TestTheMarkOfALostNumberIsAboveEveryIDToo(t *testing.T) {
	if testing.Short() {
		t.Skip("generates ids for seconds")
	}
	const numbers = 15
	l := &lossy{}
	n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(l))
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
				case errors.Is(err, xsnowflake.ErrLeaseLost):
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
			if at := latest[i][slot]; !at.IsZero() && !at.Before(l.leases[slot].mark) {
				t.Errorf("an id of number %d is %v after the mark", slot, at.Sub(l.leases[slot].mark))
			}
		}
	}
}
