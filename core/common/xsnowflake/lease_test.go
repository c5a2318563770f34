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

const ttl = 30 * time.Second

// shop is a Leaser with slots that expire, as one over Redis has.
type shop struct {
	mu       sync.Mutex
	broken   bool // does not answer
	next     int  // slot of the next lease
	leases   int
	renewals int
	released []int
	holder   map[int]*expiring
	floor    time.Time // NotBefore of the next lease
	stuck    chan struct{}
	ttl      time.Duration // 0: the constant
	failures int           // so many renewals fail
	recorded time.Time     // the last high-water mark
}

func (s *shop) Lease(_ context.Context, first, count int) (xsnowflake.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return nil, errors.New("no answer")
	}
	if s.holder == nil {
		s.holder = map[int]*expiring{}
	}
	s.leases++
	if s.ttl == 0 {
		s.ttl = ttl
	}
	l := &expiring{shop: s, slot: first + s.next%count, until: time.Now().Add(s.ttl), floor: s.floor}
	s.holder[l.slot] = l
	return l, nil
}

func (s *shop) set(change func(s *shop)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// counts returns what happened so far.
func (s *shop) counts() (leases, renewals int, released []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases, s.renewals, s.released
}

type expiring struct {
	shop  *shop
	slot  int
	until time.Time
	floor time.Time
}

func (l *expiring) Slot() int { return l.slot }

func (l *expiring) ValidUntil() time.Time {
	l.shop.mu.Lock()
	defer l.shop.mu.Unlock()
	return l.until
}

func (l *expiring) NotBefore() time.Time { return l.floor }

func (l *expiring) Record(until time.Time) error {
	l.shop.mu.Lock()
	defer l.shop.mu.Unlock()
	l.shop.recorded = until
	return nil
}

func (l *expiring) Renew(ctx context.Context) error {
	l.shop.mu.Lock()
	if stuck := l.shop.stuck; stuck != nil {
		l.shop.mu.Unlock()
		<-stuck
		l.shop.mu.Lock()
	}
	if l.shop.failures > 0 {
		l.shop.failures--
		l.shop.mu.Unlock()
		return errors.New("no answer once")
	}
	broken, owner := l.shop.broken, l.shop.holder[l.slot] == l
	if !broken && owner {
		l.shop.renewals++
		l.until = time.Now().Add(l.shop.ttl)
	}
	l.shop.mu.Unlock()
	switch {
	case broken:
		<-ctx.Done()
		return ctx.Err()
	case !owner:
		return xsnowflake.ErrLeaseLost
	}
	return nil
}

func (l *expiring) Release(context.Context) error {
	l.shop.mu.Lock()
	defer l.shop.mu.Unlock()
	l.shop.released = append(l.shop.released, l.slot)
	return nil
}

func leased(t *testing.T, s *shop) *xsnowflake.Node {
	t.Helper()
	n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(s), bubble())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestALeaseIsRenewedInTimeAndReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{next: 21}
		n := leased(t, s)
		for range 600 {
			id := n.MustGenerate()
			if id.DatacenterID() != 2 || id.NodeID() != 5 {
				t.Fatalf("datacenter, node = %d, %d, want those of slot 21", id.DatacenterID(), id.NodeID())
			}
			<-time.After(time.Second)
		}
		if leases, renewals, _ := s.counts(); leases != 1 || renewals < 59 || renewals > 61 {
			t.Errorf("%d leases, %d renewals in 10 minutes, want 1 and one each 10 s", leases, renewals)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if _, _, released := s.counts(); len(released) != 1 || released[0] != 21 {
			t.Errorf("released %v, want slot 21 once", released)
		}
	})
}

func TestANodeStopsBeforeItCouldHaveLostItsLeaseAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		until := time.Now().Add(ttl)
		s.set(func(s *shop) { s.broken = true })
		var last time.Time
		for {
			id, err := n.Generate()
			if err != nil {
				if !errors.Is(err, xsnowflake.ErrLeaseLost) {
					t.Fatalf("Generate = %v, want ErrLeaseLost", err)
				}
				break
			}
			last = n.TimeOf(id)
			<-time.After(100 * time.Millisecond)
		}
		if !last.Before(until) || until.Sub(last) > 200*time.Millisecond {
			t.Errorf("the last id is %v before the end, want the lease used up and not overrun", until.Sub(last))
		}
		if err := n.CheckHealth(t.Context()); !errors.Is(err, xsnowflake.ErrLeaseLost) {
			t.Errorf("CheckHealth = %v, want ErrLeaseLost", err)
		}
		s.set(func(s *shop) { s.broken, s.next = false, 9 })
		<-time.After(10 * time.Second)
		if id, err := n.Generate(); err != nil || id.DatacenterID() != 1 || id.NodeID() != 1 {
			t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 9", id, id.NodeID(), err)
		}
	})
}

// SIGSTOP: nothing runs, the renewal least of all, but the clocks go on. A machine that is suspended: the
// monotonic clock stands still too.
func TestAProcessThatWasStoppedUsesItsLeaseNoMore(t *testing.T) {
	for _, tc := range []struct {
		name string
		stop func(n *xsnowflake.Node)
	}{
		{name: "stopped", stop: func(*xsnowflake.Node) { <-time.After(2 * ttl) }},
		{name: "suspended", stop: func(n *xsnowflake.Node) { n.StepWall(2 * ttl) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{stuck: make(chan struct{})}
				n := leased(t, s)
				until := time.Now().Add(ttl)
				n.MustGenerate()
				tc.stop(n)
				s.set(func(s *shop) { s.holder[0], s.next = nil, 1 }) // another process has the slot by now
				var refused error
				for range 100 {
					id, err := n.Generate(xsnowflake.GeneLog)
					if err == nil && !n.TimeOf(id).Before(until) {
						t.Fatalf("an id of the lost slot carries %v, after its end", n.TimeOf(id))
					}
					refused = err
					<-time.After(50 * time.Microsecond)
				}
				if !errors.Is(refused, xsnowflake.ErrLeaseLost) {
					t.Errorf("Generate = %v, want ErrLeaseLost", refused)
				}
				close(s.stuck)
				<-time.After(ttl)
				if id, err := n.Generate(); err != nil || id.NodeID() != 1 {
					t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 1", id, id.NodeID(), err)
				}
			})
		})
	}
}

func TestALeaseThatSomeoneElseHoldsIsReplacedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		s.set(func(s *shop) { s.holder[0], s.next = nil, 7 })
		<-time.After(11 * time.Second)
		if leases, _, _ := s.counts(); n.NodeID() != 7 || leases != 2 {
			t.Errorf("node = %d after %d leases, want 7 after 2", n.NodeID(), leases)
		}
	})
}

func TestTheTimesOfAFormerHolderAreNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{floor: time.Now().Add(4 * time.Second)}
		n := leased(t, s)
		if got := n.TimeOf(n.MustGenerate()); got.Before(time.Now().Add(4 * time.Second)) {
			t.Errorf("the first id is of %v, before the end of the former holder's times", got)
		}
		s.set(func(s *shop) { s.floor = time.Now().Add(time.Minute) })
		if _, err := xsnowflake.NewNode(xsnowflake.WithLeaser(s), bubble()); !errors.Is(err, xsnowflake.ErrClockBackward) {
			t.Errorf("NewNode a minute behind = %v, want ErrClockBackward", err)
		}
		if _, _, released := s.counts(); len(released) != 1 {
			t.Errorf("released %v, want the slot that could not be used", released)
		}
	})
}

func TestASlotThatIsTooFarAheadDoesNotSpoilTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		generate(t, n, 10)
		s.set(func(s *shop) { s.holder[0], s.next, s.floor = nil, 4, time.Now().Add(time.Hour) })
		<-time.After(15 * time.Second)
		s.set(func(s *shop) { s.floor = time.Time{} })
		<-time.After(30 * time.Second)
		if id, err := n.Generate(); err != nil || id.NodeID() != 4 || !n.TimeOf(id).Equal(time.Now()) {
			t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 4, of now", id, id.NodeID(), err)
		}
	})
}

func TestADatacenterNumberAloneLeasesANodeOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(&shop{next: 13}), xsnowflake.WithDatacenterID(6), bubble())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Close() }()
		if n.DatacenterID() != 6 || n.NodeID() != 5 {
			t.Errorf("datacenter, node = %d, %d, want 6, 5", n.DatacenterID(), n.NodeID())
		}
	})
}

type wrongShop struct{ shop }

func (s *wrongShop) Lease(ctx context.Context, _, _ int) (xsnowflake.Lease, error) {
	return s.shop.Lease(ctx, 64, 1)
}

func TestASlotOutOfRangeIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &wrongShop{}
		if _, err := xsnowflake.NewNode(xsnowflake.WithLeaser(s), bubble()); err == nil || len(s.released) != 1 {
			t.Errorf("NewNode = %v, released %v; want an error and the slot released", err, s.released)
		}
	})
}
