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

// window is how long a node relies on a lease with fakeTTL.
const (
	fakeTTL = 45 * time.Second
	window  = 30 * time.Second
)

// fakeBackend grants the slots that a test chooses.
type fakeBackend struct {
	mu           sync.Mutex
	down         bool // requests fail
	next         int  // slot of the next lease
	leases       int
	renewals     int
	released     []int
	holder       map[int]string
	minMark      time.Time     // mark of the next lease, if not zero
	renewBlocked chan struct{} // if not nil, Renew waits until it is closed
	failures     int           // number of renewals that fail
	recorded     time.Time     // the last mark
}

func (*fakeBackend) Capabilities() driver.Capabilities {
	return driver.Capabilities{Scope: driver.Cluster, Durable: true, Name: "fake"}
}

func (s *fakeBackend) Acquire(_ context.Context, r driver.Request) (driver.Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down {
		return driver.Grant{}, errors.New("no response")
	}
	if s.holder == nil {
		s.holder = map[int]string{}
	}
	s.leases++
	grant := driver.Grant{OK: true, Slot: r.First + s.next%r.Count}
	if !s.minMark.IsZero() {
		grant.Mark = s.minMark.UnixMilli()
	}
	s.holder[grant.Slot], s.recorded = r.Holder, time.UnixMilli(max(grant.Mark, r.Mark))
	return grant, nil
}

func (s *fakeBackend) set(change func(s *fakeBackend)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *fakeBackend) counts() (leases, renewals int, released []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases, s.renewals, s.released
}

func (s *fakeBackend) Renew(ctx context.Context, h driver.Holding) (bool, error) {
	if h.Name != xsnowflake.LeaseName {
		return true, nil // the layout lease
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if renewBlocked := s.renewBlocked; renewBlocked != nil {
		s.mu.Unlock()
		<-renewBlocked
		s.mu.Lock()
	}
	switch {
	case s.failures > 0:
		s.failures--
		return false, errors.New("no response once")
	case s.down:
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

func (s *fakeBackend) Release(_ context.Context, h driver.Holding) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = append(s.released, h.Slot)
	s.recorded = time.UnixMilli(h.Mark)
	return true, nil
}

func leases(b driver.Backend) xsnowflake.Option {
	return xsnowflake.WithLeases(xlease.New(b), fakeTTL)
}

// leasedNode returns a node and the error of its Lease.
func leasedNode(t *testing.T, opts ...xsnowflake.Option) (*xsnowflake.Node, error) {
	t.Helper()
	n, err := xsnowflake.NewNode(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n, n.Lease(t.Context())
}

func newLeasedFrom(t *testing.T, s *fakeBackend) *xsnowflake.Node {
	t.Helper()
	n, err := leasedNode(t, leases(s), bubbleEpoch())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNode_Renewal(t *testing.T) {
	t.Run("renews in time and releases", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{next: 21}
			n := newLeasedFrom(t, s)
			for range 600 {
				id := n.MustGenerate()
				if id.DatacenterID() != 2 || id.NodeID() != 5 {
					t.Fatalf("datacenter, node = %d, %d, want 2, 5 of slot 21",
						id.DatacenterID(), id.NodeID())
				}
				<-time.After(time.Second)
			}
			if leases, renewals, _ := s.counts(); leases != 1 || renewals < 59 || renewals > 61 {
				t.Errorf("%d leases, %d renewals in 10 minutes, want 1 and about 60",
					leases, renewals)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			if _, _, released := s.counts(); len(released) != 1 || released[0] != 21 {
				t.Errorf("released %v, want slot 21 once", released)
			}
		})
	})

	t.Run("stops before the lease expires and recovers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{}
			n := newLeasedFrom(t, s)
			until := time.Now().Add(window)
			s.set(func(s *fakeBackend) { s.down = true })
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
				t.Errorf("last id %v before the end of the lease, want 0 to 200ms",
					until.Sub(last))
			}
			if err := n.CheckHealth(t.Context()); !errors.Is(err, xlease.ErrLost) {
				t.Errorf("CheckHealth = %v, want ErrLost", err)
			}
			s.set(func(s *fakeBackend) { s.down, s.next = false, 9 })
			<-time.After(10 * time.Second)
			if id, err := n.Generate(); err != nil || id.DatacenterID() != 1 || id.NodeID() != 1 {
				t.Errorf("Generate = %v of node %d, %v; want an id of the new slot 9",
					id, id.NodeID(), err)
			}
		})
	})

	// Otherwise, callers that retry at once would use up the ids of the next seconds.
	t.Run("uses no ids while the lease is lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{}
			n, err := leasedNode(t, leases(s), bubbleEpoch(),
				xsnowflake.WithMaxBackward(10*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			s.set(func(s *fakeBackend) { s.down = true })
			<-time.After(2 * window)
			for range 20 * 1024 {
				if _, err := n.Generate(); !errors.Is(err, xlease.ErrLost) {
					t.Fatalf("Generate = %v, want ErrLost", err)
				}
			}
			s.set(func(s *fakeBackend) { s.down = false })
			<-time.After(10 * time.Second)
			if ahead := time.Until(n.TimeOf(n.MustGenerate())); ahead > 0 {
				t.Errorf("the first id is %v ahead, want 0", ahead)
			}
		})
	})

	// After SIGSTOP, the clocks advance but nothing runs, including the renewal. On a
	// suspended machine, the monotonic clock stops too.
	t.Run("does not use an expired lease after a pause", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			stop func(n *xsnowflake.Node)
		}{
			{name: "stopped", stop: func(*xsnowflake.Node) { <-time.After(2 * window) }},
			{name: "suspended", stop: func(n *xsnowflake.Node) { n.StepWall(2 * window) }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &fakeBackend{renewBlocked: make(chan struct{})}
					n := newLeasedFrom(t, s)
					until := time.Now().Add(window)
					n.MustGenerate()
					tc.stop(n)
					// another process has acquired the slot
					s.set(func(s *fakeBackend) { s.holder[0], s.next = "", 1 })
					var genErr error
					for range 100 {
						id, err := n.Generate(xsnowflake.GeneLog)
						if err == nil && !n.TimeOf(id).Before(until) {
							t.Fatalf("time of an id of the lost slot = %v, want before %v",
								n.TimeOf(id), until)
						}
						genErr = err
						<-time.After(50 * time.Microsecond)
					}
					if !errors.Is(genErr, xlease.ErrLost) {
						t.Errorf("Generate = %v, want ErrLost", genErr)
					}
					close(s.renewBlocked)
					<-time.After(window)
					if id, err := n.Generate(); err != nil || id.NodeID() != 1 {
						t.Errorf("Generate = %v of node %d, %v; want an id of the new slot 1",
							id, id.NodeID(), err)
					}
				})
			})
		}
	})

	t.Run("replaces a lost lease immediately", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{}
			n := newLeasedFrom(t, s)
			s.set(func(s *fakeBackend) { s.holder[0], s.next = "", 7 })
			<-time.After(11 * time.Second)
			if leases, _, _ := s.counts(); n.NodeID() != 7 || leases != 2 {
				t.Errorf("node = %d after %d leases, want 7 after 2", n.NodeID(), leases)
			}
		})
	})
}

func TestNode_Mark(t *testing.T) {
	t.Run("skips the times of a former holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{minMark: time.Now().Add(4 * time.Second)}
			n := newLeasedFrom(t, s)
			if got := n.TimeOf(n.MustGenerate()); got.Before(time.Now().Add(4 * time.Second)) {
				t.Errorf("time of the first id = %v, want it after the times of the former holder",
					got)
			}
			s.set(func(s *fakeBackend) { s.minMark = time.Now().Add(time.Minute) })
			_, err := leasedNode(t, leases(s), bubbleEpoch())
			if !errors.Is(err, xsnowflake.ErrClock) {
				t.Errorf("Lease a minute behind = %v, want ErrClock", err)
			}
			if _, _, released := s.counts(); len(released) != 1 {
				t.Errorf("released %v, want the unusable slot", released)
			}
		})
	})

	t.Run("recovers from a mark that is too far ahead", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{}
			n := newLeasedFrom(t, s)
			generate(t, n, 10)
			s.set(func(s *fakeBackend) {
				s.holder[0], s.next, s.minMark = "", 4, time.Now().Add(time.Hour)
			})
			<-time.After(15 * time.Second)
			s.set(func(s *fakeBackend) { s.minMark = time.Time{} })
			<-time.After(30 * time.Second)
			if id, err := n.Generate(); err != nil || id.NodeID() != 4 ||
				!n.TimeOf(id).Equal(time.Now()) {
				t.Errorf("Generate = %v of node %d, %v; want a current id of the new slot 4",
					id, id.NodeID(), err)
			}
		})
	})
}

func TestWithDatacenterID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, err := leasedNode(t, leases(&fakeBackend{next: 13}), xsnowflake.WithDatacenterID(6),
			bubbleEpoch())
		if err != nil {
			t.Fatal(err)
		}
		if n.DatacenterID() != 6 || n.NodeID() != 5 {
			t.Errorf("datacenter, node = %d, %d, want 6, 5", n.DatacenterID(), n.NodeID())
		}
	})
}
