package xsnowflake_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/internal/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

const ttl = 30 * time.Second

// newLeases returns leases on a backend with a connection that works so far.
func newLeases(t *testing.T) (*xlease.Leases, *leasetest.Backend) {
	t.Helper()
	b := &leasetest.Backend{Backend: xlease.InProcess(nil)}
	l := xlease.New(b)
	t.Cleanup(func() { _ = l.Close() })
	return l, b
}

// capture returns what is logged until the test ends. Read it when the bubble is idle.
func capture(t *testing.T) *bytes.Buffer {
	t.Helper()
	out := &bytes.Buffer{}
	engine, err := xlog.New(xlog.Config{Format: xlog.FormatJSON, Writer: out})
	if err != nil {
		t.Fatal(err)
	}
	restore := xlog.SetDefault(engine)
	t.Cleanup(func() {
		restore()
		_ = engine.Close()
	})
	return out
}

// timeOf is the time of an id in a bubble.
func timeOf(id xsnowflake.SnowflakeID) time.Time {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return l.Parse(id).Time
}

// newLeased returns a node with a node ID from l, which ends with the test.
func newLeased(t *testing.T, l *xlease.Leases, opts ...xsnowflake.Option) *xsnowflake.Node {
	t.Helper()
	n, err := leasedNode(t, append([]xsnowflake.Option{xsnowflake.WithLeases(l, ttl), bubble()},
		opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNodesHaveNumbersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := newLeases(t)
		taken := map[int]bool{}
		var first *xsnowflake.Node
		for range 8 {
			n := newLeased(t, l, xsnowflake.WithDatacenterID(2))
			if n.DatacenterID() != 2 || taken[n.NodeID()] {
				t.Errorf("datacenter, node = %d, %d; want 2 and a free one",
					n.DatacenterID(), n.NodeID())
			}
			taken[n.NodeID()] = true
			first = n
		}
		_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), xsnowflake.WithDatacenterID(2),
			bubble())
		if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(),
			"all 8 are held in memory, between all of one process") {
			t.Errorf("Lease = %v, want ErrNoSlot, with how many and where", err)
		}
		if got, want := first.Source(),
			"a lease in memory, between all of one process"; got != want {
			t.Errorf("Source = %q, want %q", got, want)
		}
		<-time.After(time.Hour)
		first.MustGenerate()
		_ = first.Close()
		newLeased(t, l, xsnowflake.WithDatacenterID(2))
	})
}

func TestANodeStopsWithItsLeaseAndGetsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		n := newLeased(t, l)
		s.Set(func(s *leasetest.Backend) { s.Down = true })
		start := time.Now()
		for {
			id, err := n.Generate()
			if err == nil && timeOf(id).After(start.Add(20*time.Second)) {
				t.Fatalf("an id is of %v after the last renewal", timeOf(id).Sub(start))
			}
			if err != nil {
				if took := time.Since(start); !errors.Is(err, xlease.ErrLost) ||
					took != 20*time.Second {
					t.Fatalf("Generate = %v after %v, want ErrLost after 20s", err, took)
				}
				break
			}
			<-time.After(100 * time.Millisecond)
		}
		s.Set(func(s *leasetest.Backend) { s.Down = false })
		<-time.After(10 * time.Second)
		n.MustGenerate()
	})
}

// The mark that a killed holder leaves is later than all its ids; that of one that was
// closed follows the last.
func TestTheNextHolderBeginsAfterTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := xlease.InProcess(nil)
		l := xlease.New(only{b, 3})
		defer func() { _ = l.Close() }()
		fast := func() time.Time { return time.Now().Add(4 * time.Second) }
		n := newLeased(t, l, xsnowflake.WithClock(fast))
		var last xsnowflake.SnowflakeID
		for range 300 {
			last = n.MustGenerate()
			<-time.After(100 * time.Millisecond)
		}
		h := driver.Request{
			Name: xsnowflake.LeaseName, First: 3, Count: 1, Begin: 3, Holder: "x",
			TTL: ttl,
		}
		if g, _ := b.Acquire(t.Context(), h); g.OK {
			t.Fatal("the number is free")
		}
		_ = n.Close()
		g, err := b.Acquire(t.Context(), h)
		if err != nil || !g.OK || g.Mark <= timeOf(last).UnixMilli() ||
			g.Mark > fast().UnixMilli() {
			t.Errorf("the mark = %d, %v; want one right after the last id, which is of %d",
				g.Mark, err, timeOf(last).UnixMilli())
		}
		_, _ = b.Release(t.Context(),
			driver.Holding{Name: h.Name, Slot: 3, Holder: "x", TTL: ttl, Mark: g.Mark})
		next := newLeased(t, l)
		if id := next.MustGenerate(); id <= last {
			t.Errorf("the next holder, 4 s behind, begins with %d, which is not after %d", id, last)
		}
	})
}

// only asks for one node ID.
type only struct {
	driver.Backend

	slot int
}

func (o only) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if r.Name == xsnowflake.LeaseName {
		r.First, r.Count, r.Begin = o.slot, 1, o.slot
	}
	return o.Backend.Acquire(ctx, r)
}

// A backend that has no records may have forgotten a holder that renewed right before:
// its ids end two thirds of the TTL later. The node rides out 5 s of that, and waits for
// the rest.
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
				s.Age, s.Reports = &tc.age,
					&driver.Capabilities{Scope: driver.Cluster, Durable: tc.durable, Name: "fake"}
				start := time.Now()
				n := newLeased(t, l)
				if took := time.Since(start); took != tc.wait {
					t.Errorf("the start took %v, want %v", took, tc.wait)
				}
				id := n.MustGenerate()
				if forgotten := start.Add(20*time.Second - tc.age); !tc.durable &&
					!timeOf(id).After(forgotten) {
					t.Errorf("the first id is of %v after the start, in the time of one who was forgotten", timeOf(id).Sub(start))
				}
				if said := strings.Contains(out.String(),
					"no record of the id nodes so far"); said != (tc.wait > 0) {
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
		{
			rides: 10 * time.Millisecond, late: 500 * time.Millisecond,
			wait: 21500*time.Millisecond - 10*time.Millisecond,
		},
		{rides: time.Hour, wait: 11 * time.Second}, // half of what the lease lasts
	} {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Reports, s.Late = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}, tc.late
			start := time.Now()
			// of the first call alone
			time.AfterFunc(tc.late/2, func() { s.Set(func(s *leasetest.Backend) { s.Late = 0 }) })
			n := newLeased(t, l, xsnowflake.WithMaxBackward(tc.rides))
			if took := time.Since(start); took != tc.wait {
				t.Errorf("the start of a node that rides out %v took %v, want %v",
					tc.rides, took, tc.wait)
			}
			if id := n.MustGenerate(); timeOf(id).Before(start.Add(21 * time.Second)) {
				t.Errorf("the first id is of %v after the start, in the time of one who was forgotten", timeOf(id).Sub(start))
			}
		})
	}
}

// A late answer: the records started in the meantime, so the wait is counted from the
// answer.
func TestAnOldAnswerCountsFromItsArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
		s.Late = 5 * time.Second
		start := time.Now()
		// of joining and leasing
		time.AfterFunc(8*time.Second, func() { s.Set(func(s *leasetest.Backend) { s.Late = 0 }) })
		n := newLeased(t, l)
		if id := n.MustGenerate(); timeOf(id).Before(start.Add(10*time.Second + 21*time.Second)) {
			t.Errorf("the first id is of %v after the start, want 10 s of answers, two thirds of the TTL and a second", timeOf(id).Sub(start))
		}
	})
}

func TestErrorsOfTheBackendReachTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := newLeases(t)
		s.Set(func(s *leasetest.Backend) { s.Down = true })
		if _, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), bubble()); !errors.Is(err,
			leasetest.ErrDown) {
			t.Errorf("Lease = %v, want the backend's error", err)
		}
		s.Set(func(s *leasetest.Backend) { s.Down = false })
		n := newLeased(t, l)
		s.Set(func(s *leasetest.Backend) { s.Stolen = true })
		if err := n.Close(); !errors.Is(err, xlease.ErrLost) {
			t.Errorf("Close = %v, want ErrLost", err)
		}
	})
}

// The wait for those who may have been forgotten starts when the node is made.
func TestNode_Prepare(t *testing.T) {
	for _, tc := range []struct {
		name       string
		first      time.Duration // the first id, after the start
		start, ids time.Duration // how long both take
	}{
		{name: "an id at once waits as before", ids: 16 * time.Second},
		{
			name:  "an id after a while waits for the rest",
			first: 10 * time.Second, ids: 6 * time.Second,
		},
		{name: "an id after the TTL waits for nothing", first: 20 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
				start := time.Now()
				n, err := xsnowflake.NewNode(xsnowflake.WithLeases(l, ttl), bubble())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = n.Close() }()
				if err := n.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
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
