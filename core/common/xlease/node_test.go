package xlease_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// epoch is before the year 2000, in which a synctest bubble starts.
func epoch() xsnowflake.Option {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return xsnowflake.WithLayout(l)
}

// timeOf is the time of an id in a bubble.
func timeOf(id xsnowflake.SnowflakeID) time.Time {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return l.Parse(id).Time
}

// newNode returns a node with a number from l, which ends with the test.
func newNode(t *testing.T, l *xlease.Leases, opts ...xsnowflake.Option) *xsnowflake.Node {
	t.Helper()
	n, err := xsnowflake.NewNode(append([]xsnowflake.Option{xsnowflake.WithLeaser(xlease.NodeLeaser(l, ttl)), epoch()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

func TestNodesHaveNumbersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		taken := map[int]bool{}
		var first *xsnowflake.Node
		for range 8 {
			n := newNode(t, l, xsnowflake.WithDatacenterID(2))
			if n.DatacenterID() != 2 || taken[n.NodeID()] {
				t.Errorf("datacenter, node = %d, %d; want 2 and a free one", n.DatacenterID(), n.NodeID())
			}
			taken[n.NodeID()] = true
			first = n
		}
		_, err := xsnowflake.NewNode(xsnowflake.WithLeaser(xlease.NodeLeaser(l, ttl)), xsnowflake.WithDatacenterID(2), epoch())
		if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(), "all 8 are held in memory, between all of one process") {
			t.Errorf("NewNode = %v, want ErrNoSlot, with how many and where", err)
		}
		if got, want := first.Source(), "a lease in memory, between all of one process"; got != want {
			t.Errorf("Source = %q, want %q", got, want)
		}
		<-time.After(time.Hour)
		first.MustGenerate()
		_ = first.Close()
		newNode(t, l, xsnowflake.WithDatacenterID(2))
	})
}

func TestANodeStopsWithItsLeaseAndGetsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		n := newNode(t, l)
		s.set(func(s *shaky) { s.down = true })
		start := time.Now()
		for {
			id, err := n.Generate()
			if err == nil && timeOf(id).After(start.Add(20*time.Second)) {
				t.Fatalf("an id is of %v after the last renewal", timeOf(id).Sub(start))
			}
			if err != nil {
				if took := time.Since(start); !errors.Is(err, xsnowflake.ErrLeaseLost) || took != 20*time.Second {
					t.Fatalf("Generate = %v after %v, want ErrLeaseLost after 20s", err, took)
				}
				break
			}
			<-time.After(100 * time.Millisecond)
		}
		s.set(func(s *shaky) { s.down = false })
		<-time.After(10 * time.Second)
		n.MustGenerate()
	})
}

// The mark that a killed holder leaves is later than all its ids; that of one that was closed follows the last.
func TestTheNextHolderBeginsAfterTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := xlease.InProcess(nil)
		l := xlease.New(b)
		defer func() { _ = l.Close() }()
		fast := func() time.Time { return time.Now().Add(4 * time.Second) }
		n := newNode(t, l, xsnowflake.WithClock(fast), xsnowflake.WithLeaser(only{xlease.NodeLeaser(l, ttl), 3}))
		var last xsnowflake.SnowflakeID
		for range 300 {
			last = n.MustGenerate()
			<-time.After(100 * time.Millisecond)
		}
		h := driver.Request{Name: xlease.NodeName, First: 3, Count: 1, Begin: 3, Holder: "x", TTL: ttl}
		if g, _ := b.Acquire(t.Context(), h); g.OK {
			t.Fatal("the number is free")
		}
		_ = n.Close()
		g, err := b.Acquire(t.Context(), h)
		if err != nil || !g.OK || g.Mark <= timeOf(last).UnixMilli() || g.Mark > fast().UnixMilli() {
			t.Errorf("the mark = %d, %v; want one right after the last id, which is of %d", g.Mark, err, timeOf(last).UnixMilli())
		}
		_, _ = b.Release(t.Context(), driver.Holding{Name: h.Name, Slot: 3, Holder: "x", TTL: ttl, Mark: g.Mark})
		next := newNode(t, l, xsnowflake.WithLeaser(only{xlease.NodeLeaser(l, ttl), 3}))
		if id := next.MustGenerate(); id <= last {
			t.Errorf("the next holder, 4 s behind, begins with %d, which is not after %d", id, last)
		}
	})
}

// only asks for one number.
type only struct {
	xsnowflake.Leaser
	number int
}

func (o only) Lease(ctx context.Context, _, _ int) (xsnowflake.Lease, error) {
	return o.Leaser.Lease(ctx, o.number, 1)
}

func (o only) WithClock(now func() time.Time) xsnowflake.Leaser {
	clocked, _ := o.Leaser.(xsnowflake.Clocked)
	return only{clocked.WithClock(now), o.number}
}

// A backend that has no records may have forgotten a holder that renewed right before: its ids end two thirds of the TTL
// later. The node rides out 5 s of that, and waits for the rest.
func TestWhereAHolderMayBeForgottenTheFirstIDsWaitForIt(t *testing.T) {
	for _, tc := range []struct {
		name    string
		durable bool
		age     time.Duration
		wait    time.Duration
	}{
		{name: "a new cache server", wait: 16 * time.Second},
		{name: "one of a while", age: 10 * time.Second, wait: 6 * time.Second},
		{name: "an old one", age: time.Minute},
		{name: "a new database", durable: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := capture(t)
				l, s := newLeases(t)
				s.age, s.capabilities = &tc.age, &driver.Capabilities{Scope: driver.Cluster, Durable: tc.durable, Name: "fake"}
				start := time.Now()
				n := newNode(t, l)
				if took := time.Since(start); took != tc.wait {
					t.Errorf("the start took %v, want %v", took, tc.wait)
				}
				id := n.MustGenerate()
				if forgotten := start.Add(20*time.Second - tc.age); !tc.durable && !timeOf(id).After(forgotten) {
					t.Errorf("the first id is of %v after the start, in the time of one who was forgotten", timeOf(id).Sub(start))
				}
				if said := strings.Contains(out.String(), "no record of the id nodes so far"); said != (tc.wait > 0) {
					t.Errorf("the log tells of the wait: %t; it was %v", said, tc.wait)
				}
			})
		})
	}
}

func TestTheFirstStartWaitsWhateverTheNodeRidesOut(t *testing.T) {
	for _, tc := range []struct{ rides, late, wait time.Duration }{
		{rides: 10 * time.Millisecond, wait: 21*time.Second - 10*time.Millisecond},
		{rides: 450 * time.Millisecond, wait: 21*time.Second - 450*time.Millisecond},
		{rides: time.Second, wait: 20 * time.Second},
		{rides: 10 * time.Millisecond, late: 500 * time.Millisecond, wait: 21500*time.Millisecond - 10*time.Millisecond},
		{rides: time.Hour, wait: 11 * time.Second}, // half of what the lease lasts
	} {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.capabilities, s.late = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}, tc.late
			start := time.Now()
			time.AfterFunc(tc.late/2, func() { s.set(func(s *shaky) { s.late = 0 }) }) // of the first call alone
			n := newNode(t, l, xsnowflake.WithMaxBackward(tc.rides))
			if took := time.Since(start); took != tc.wait {
				t.Errorf("the start of a node that rides out %v took %v, want %v", tc.rides, took, tc.wait)
			}
			if id := n.MustGenerate(); timeOf(id).Before(start.Add(21 * time.Second)) {
				t.Errorf("the first id is of %v after the start, in the time of one who was forgotten", timeOf(id).Sub(start))
			}
		})
	}
}

// A late answer: the records began meanwhile, and so the wait is counted from the answer.
func TestAnOldAnswerCountsFromItsArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.capabilities = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
		s.late = 5 * time.Second
		start := time.Now()
		lease, err := xlease.NodeLeaser(l, ttl).Lease(t.Context(), 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		rec, ok := lease.(xsnowflake.Recorder)
		if !ok || rec.NotBefore().Before(start.Add(26*time.Second)) {
			t.Errorf("NotBefore = %v after the start, want 5 s, two thirds of the TTL and a second", rec.NotBefore().Sub(start))
		}
		if !lease.ValidUntil().Equal(start.Add(20 * time.Second)) {
			t.Errorf("ValidUntil = %v after the start, want it counted from the request", lease.ValidUntil().Sub(start))
		}
		s.set(func(s *shaky) { s.late = 0 })
		_ = lease.Release(t.Context())
	})
}

func TestWhatTheBackendSaysReachesTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.set(func(s *shaky) { s.down = true })
		if _, err := xlease.NodeLeaser(l, ttl).Lease(t.Context(), 0, 64); !errors.Is(err, errDown) {
			t.Errorf("Lease = %v, want the backend's error", err)
		}
		s.set(func(s *shaky) { s.down = false })
		lease, err := xlease.NodeLeaser(l, ttl).Lease(t.Context(), 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		rec, _ := lease.(xsnowflake.Recorder)
		until := lease.ValidUntil()
		s.set(func(s *shaky) { s.down = true })
		if err := lease.Renew(t.Context()); !errors.Is(err, errDown) || errors.Is(err, xsnowflake.ErrLeaseLost) {
			t.Errorf("Renew = %v, want the backend's error", err)
		}
		if err := rec.Record(time.Now()); err != nil || !lease.ValidUntil().Equal(until) {
			t.Errorf("Record = %v, ValidUntil %v later; want nil and no change", err, lease.ValidUntil().Sub(until))
		}
		s.set(func(s *shaky) { s.down, s.stolen = false, true })
		if err := lease.Renew(t.Context()); !errors.Is(err, xsnowflake.ErrLeaseLost) || !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Renew = %v, want ErrLeaseLost", err)
		}
		if err := rec.Record(time.Now()); !errors.Is(err, xsnowflake.ErrLeaseLost) {
			t.Errorf("Record = %v, want ErrLeaseLost", err)
		}
		if err := lease.Release(t.Context()); !errors.Is(err, xsnowflake.ErrLeaseLost) {
			t.Errorf("Release = %v, want ErrLeaseLost", err)
		}
	})
}

func TestANodeMovesFromAFileToALeaseUnderLoad(t *testing.T) {
	l := xlease.New(xlease.InProcess(nil))
	defer func() { _ = l.Close() }()
	n, err := xsnowflake.NewNode(xsnowflake.WithLeaser(xsnowflake.FileLeaser(t.TempDir())))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = n.Close() }()
	if !strings.HasSuffix(n.Source(), "for this host only") {
		t.Errorf("Source = %q, want a file", n.Source())
	}
	parts := make([][]xsnowflake.SnowflakeID, 4)
	var callers sync.WaitGroup
	for i := range parts {
		callers.Go(func() {
			for range 5000 {
				id, err := n.Generate(xsnowflake.Gene(i % 2))
				if err != nil {
					t.Error(err)
					return
				}
				parts[i] = append(parts[i], id)
			}
		})
	}
	if err := n.UseLeaser(t.Context(), xlease.NodeLeaser(l, ttl)); err != nil {
		t.Error(err)
	}
	callers.Wait()
	if n.Source() != "a lease in memory, between all of one process" {
		t.Errorf("Source = %q, want the lease", n.Source())
	}
	seen := map[xsnowflake.SnowflakeID]bool{}
	for _, part := range parts {
		for _, id := range part {
			if seen[id] {
				t.Fatalf("%d came twice", id)
			}
			seen[id] = true
		}
	}
}

// The wait for those who may have been forgotten starts when the node is made.
func TestNodeLeaser_Prepare(t *testing.T) {
	for _, tc := range []struct {
		name       string
		first      time.Duration // the first id, after the start
		start, ids time.Duration // how long both take
	}{
		{name: "an id at once waits as before", ids: 16 * time.Second},
		{name: "an id after a while waits for the rest", first: 10 * time.Second, ids: 6 * time.Second},
		{name: "an id after the TTL waits for nothing", first: 20 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				s.capabilities = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
				start := time.Now()
				n := newNode(t, l, xsnowflake.WithLeaseOnFirstUse())
				if took := time.Since(start); took != tc.start {
					t.Errorf("the start took %v, want %v", took, tc.start)
				}
				<-time.After(tc.first)
				asked := time.Now()
				id := n.MustGenerate()
				if took := time.Since(asked); took < tc.ids || took > tc.ids+time.Second {
					t.Errorf("the first id took %v, want %v", took, tc.ids)
				}
				if timeOf(id).Before(start.Add(20 * time.Second)) {
					t.Errorf("the first id is of %v after the start, in the time of one who was forgotten", timeOf(id).Sub(start))
				}
			})
		})
	}
}
