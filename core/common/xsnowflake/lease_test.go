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

// shopTTL is the TTL of the leases of a shop, and lasts how long a node relies on one.
const (
	shopTTL = 45 * time.Second
	lasts   = 30 * time.Second
)

// shop is a backend that gives out the slots that a test chooses.
type shop struct {
	mu       sync.Mutex
	broken   bool // does not answer
	next     int  // slot of the next lease
	leases   int
	renewals int
	released []int
	holder   map[int]string
	floor    time.Time // before which the next lease may not start
	stuck    chan struct{}
	failures int       // so many renewals fail
	recorded time.Time // the last mark
}

func (*shop) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: driver.Cluster, Durable: true, Name: "shop"}
}

func (s *shop) Acquire(_ context.Context, r driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken {
		return driver.Grant{}, errors.New("no answer")
	}
	if s.holder == nil {
		s.holder = map[int]string{}
	}
	s.leases++
	grant := driver.Grant{OK: true, Slot: r.First + s.next%r.Count}
	if !s.floor.IsZero() {
		grant.Mark = s.floor.UnixMilli()
	}
	s.holder[grant.Slot], s.recorded = r.Holder, time.UnixMilli(max(grant.Mark, r.Mark))
	return grant, nil
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

func (s *shop) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if h.Name != xsnowflake.LeaseName {
		return true, nil // the layout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stuck := s.stuck; stuck != nil {
		s.mu.Unlock()
		<-stuck
		s.mu.Lock()
	}
	switch {
	case s.failures > 0:
		s.failures--
		return false, errors.New("no answer once")
	case s.broken:
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		return false, ctx.Err()
	case s.holder[h.Slot] != h.Holder:
		return false, nil
	}
	s.renewals++
	s.recorded = time.UnixMilli(h.Mark)
	return true, nil
}

func (s *shop) Release(_ context.Context, h driver.Holding) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = append(s.released, h.Slot)
	s.recorded = time.UnixMilli(h.Mark)
	return true, nil
}

// leases is the option to lease from a backend.
func leases(b driver.Backend) xsnowflake.Option {
	return xsnowflake.WithLeases(xlease.New(b), shopTTL)
}

// leasedNode returns a node that has leased its node ID, or the error of that.
func leasedNode(t *testing.T, opts ...xsnowflake.Option) (*xsnowflake.Node, error) {
	t.Helper()
	n, err := xsnowflake.NewNode(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n, n.Lease(t.Context())
}

func leased(t *testing.T, s *shop) *xsnowflake.Node {
	t.Helper()
	n, err := leasedNode(t, leases(s), bubble())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestALeaseIsRenewedInTimeAndReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{next: 21}
		n := leased(t, s)
		for range 600 {
			id := n.MustGenerate()
			if id.DatacenterID() != 2 || id.NodeID() != 5 {
				t.Fatalf("datacenter, node = %d, %d, want those of slot 21",
					id.DatacenterID(), id.NodeID())
			}
			<-time.After(time.Second)
		}
		if leases, renewals, _ := s.counts(); leases != 1 || renewals < 59 || renewals > 61 {
			t.Errorf("%d leases, %d renewals in 10 minutes, want 1 and one each 10 s",
				leases, renewals)
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
		until := time.Now().Add(lasts)
		s.set(func(s *shop) { s.broken = true })
		var last time.Time
		for {
			id, err := n.Generate()
			if err != nil {
				if !errors.Is(err, xlease.ErrLost) {
					t.Fatalf("Generate = %v, want ErrLost", err)
				}
				break
			}
			last = n.TimeOf(id)
			<-time.After(100 * time.Millisecond)
		}
		if !last.Before(until) || until.Sub(last) > 200*time.Millisecond {
			t.Errorf("the last id is %v before the end, want the lease used up and not overrun",
				until.Sub(last))
		}
		if err := n.CheckHealth(t.Context()); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("CheckHealth = %v, want ErrLost", err)
		}
		s.set(func(s *shop) { s.broken, s.next = false, 9 })
		<-time.After(10 * time.Second)
		if id, err := n.Generate(); err != nil || id.DatacenterID() != 1 || id.NodeID() != 1 {
			t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 9",
				id, id.NodeID(), err)
		}
	})
}

// SIGSTOP: nothing runs, the renewal least of all, but the clocks go on. A machine that
// is suspended: the monotonic clock stands still too.
func TestAProcessThatWasStoppedUsesItsLeaseNoMore(t *testing.T) {
	for _, tc := range []struct {
		name string
		stop func(n *xsnowflake.Node)
	}{
		{name: "stopped", stop: func(*xsnowflake.Node) { <-time.After(2 * lasts) }},
		{name: "suspended", stop: func(n *xsnowflake.Node) { n.StepWall(2 * lasts) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &shop{stuck: make(chan struct{})}
				n := leased(t, s)
				until := time.Now().Add(lasts)
				n.MustGenerate()
				tc.stop(n)
				// another process has the slot by now
				s.set(func(s *shop) { s.holder[0], s.next = "", 1 })
				var refused error
				for range 100 {
					id, err := n.Generate(xsnowflake.GeneLog)
					if err == nil && !n.TimeOf(id).Before(until) {
						t.Fatalf("an id of the lost slot carries %v, after its end", n.TimeOf(id))
					}
					refused = err
					<-time.After(50 * time.Microsecond)
				}
				if !errors.Is(refused, xlease.ErrLost) {
					t.Errorf("Generate = %v, want ErrLost", refused)
				}
				close(s.stuck)
				<-time.After(lasts)
				if id, err := n.Generate(); err != nil || id.NodeID() != 1 {
					t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 1",
						id, id.NodeID(), err)
				}
			})
		})
	}
}

func TestALeaseThatSomeoneElseHoldsIsReplacedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &shop{}
		n := leased(t, s)
		s.set(func(s *shop) { s.holder[0], s.next = "", 7 })
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
		if _, err := leasedNode(t, leases(s), bubble()); !errors.Is(err, xsnowflake.ErrClock) {
			t.Errorf("Lease a minute behind = %v, want ErrClock", err)
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
		s.set(func(s *shop) { s.holder[0], s.next, s.floor = "", 4, time.Now().Add(time.Hour) })
		<-time.After(15 * time.Second)
		s.set(func(s *shop) { s.floor = time.Time{} })
		<-time.After(30 * time.Second)
		if id, err := n.Generate(); err != nil || id.NodeID() != 4 ||
			!n.TimeOf(id).Equal(time.Now()) {
			t.Errorf("Generate = %v of node %d, %v; want one of the new slot, 4, of now",
				id, id.NodeID(), err)
		}
	})
}

func TestADatacenterNumberAloneLeasesANodeOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := leasedNode(t, leases(&shop{next: 13}), xsnowflake.WithDatacenterID(6), bubble())
		if err != nil {
			t.Fatal(err)
		}
		if n.DatacenterID() != 6 || n.NodeID() != 5 {
			t.Errorf("datacenter, node = %d, %d, want 6, 5", n.DatacenterID(), n.NodeID())
		}
	})
}
