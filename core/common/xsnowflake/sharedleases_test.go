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

func newLeases(t *testing.T) (*xlease.Leases, *leasetest.Backend) {
	t.Helper()
	b := &leasetest.Backend{Backend: xlease.InProcess(nil)}
	l := xlease.New(b)
	t.Cleanup(func() { _ = l.Close() })
	return l, b
}

// captureLog returns the buffer that receives the log of the test. Read it only while the
// bubble is idle.
func captureLog(t *testing.T) *bytes.Buffer {
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

// timeOf returns the time of an id with the epoch of bubbleEpoch.
func timeOf(id xsnowflake.SnowflakeID) time.Time {
	l := xsnowflake.LayoutDefault
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return l.Parse(id).Time
}

// newLeased returns a node with a node ID from l. The test closes it.
func newLeased(t *testing.T, l *xlease.Leases, opts ...xsnowflake.Option) *xsnowflake.Node {
	t.Helper()
	all := append([]xsnowflake.Option{xsnowflake.WithLeases(l, ttl), bubbleEpoch()}, opts...)
	n, err := leasedNode(t, all...)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNode_SharedLeases(t *testing.T) {
	t.Run("assigns distinct node IDs", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			used := map[int]bool{}
			var first *xsnowflake.Node
			for range 8 {
				n := newLeased(t, l, xsnowflake.WithDatacenterID(2))
				if n.DatacenterID() != 2 || used[n.NodeID()] {
					t.Errorf("datacenter, node = %d, %d; want 2 and a free node ID",
						n.DatacenterID(), n.NodeID())
				}
				used[n.NodeID()] = true
				first = n
			}
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), xsnowflake.WithDatacenterID(2),
				bubbleEpoch())
			if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(),
				"all 8 are held in memory (scope: process)") {
				t.Errorf("Lease = %v, want ErrNoSlot with the number and the backend", err)
			}
			got, want := first.Source(), "a lease in memory (scope: process)"
			if got != want {
				t.Errorf("Source = %q, want %q", got, want)
			}
			<-time.After(time.Hour)
			first.MustGenerate()
			_ = first.Close()
			newLeased(t, l, xsnowflake.WithDatacenterID(2))
		})
	})

	t.Run("stops when its lease is lost and leases another node ID", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			n := newLeased(t, l)
			s.Set(func(s *leasetest.Backend) { s.Down = true })
			start := time.Now()
			for {
				id, err := n.Generate()
				if err == nil && timeOf(id).After(start.Add(20*time.Second)) {
					t.Fatalf("time of an id = %v after the last renewal", timeOf(id).Sub(start))
				}
				if err != nil {
					if elapsed := time.Since(start); !errors.Is(err, xlease.ErrLost) ||
						elapsed != 20*time.Second {
						t.Fatalf("Generate = %v after %v, want ErrLost after 20s", err, elapsed)
					}
					break
				}
				<-time.After(100 * time.Millisecond)
			}
			s.Set(func(s *leasetest.Backend) { s.Down = false })
			<-time.After(10 * time.Second)
			n.MustGenerate()
		})
	})

	// The mark of a killed holder is later than all its ids. The mark of a closed holder
	// follows its last id.
	t.Run("starts after the former holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := xlease.InProcess(nil)
			l := xlease.New(singleSlot{b, 3})
			defer func() { _ = l.Close() }()
			fast := func() time.Time { return time.Now().Add(4 * time.Second) }
			n := newLeased(t, l, xsnowflake.WithClock(fast))
			var last xsnowflake.SnowflakeID
			for range 300 {
				last = n.MustGenerate()
				<-time.After(100 * time.Millisecond)
			}
			h := driver.Request{
				Name: xsnowflake.LeaseName, First: 3, Count: 1, Begin: 3, Holder: "x", TTL: ttl,
			}
			if g, _ := b.Acquire(t.Context(), h); g.OK {
				t.Fatal("the slot is free")
			}
			_ = n.Close()
			g, err := b.Acquire(t.Context(), h)
			if err != nil || !g.OK || g.Mark <= timeOf(last).UnixMilli() ||
				g.Mark > fast().UnixMilli() {
				t.Errorf("mark = %d, %v; want it directly after the last id, %d",
					g.Mark, err, timeOf(last).UnixMilli())
			}
			_, _ = b.Release(t.Context(),
				driver.Holding{Name: h.Name, Slot: 3, Holder: "x", TTL: ttl, Mark: g.Mark})
			next := newLeased(t, l)
			if id := next.MustGenerate(); id <= last {
				t.Errorf("first id of the next holder, 4 s behind = %d, want it after %d", id, last)
			}
		})
	})

	t.Run("returns errors of the backend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Set(func(s *leasetest.Backend) { s.Down = true })
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), bubbleEpoch())
			if !errors.Is(err, leasetest.ErrDown) {
				t.Errorf("Lease = %v, want the error of the backend", err)
			}
			s.Set(func(s *leasetest.Backend) { s.Down = false })
			n := newLeased(t, l)
			s.Set(func(s *leasetest.Backend) { s.Stolen = true })
			if err := n.Close(); !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Close = %v, want ErrLost", err)
			}
		})
	})
}

// singleSlot leases only one node ID.
type singleSlot struct {
	driver.Backend

	slot int
}

func (o singleSlot) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	if r.Name == xsnowflake.LeaseName {
		r.First, r.Count, r.Begin = o.slot, 1, o.slot
	}
	return o.Backend.Acquire(ctx, r)
}

func TestNode_UnrecordedHolder(t *testing.T) {
	// A backend without records may have lost the record of a holder that renewed just
	// before. That holder generates ids for up to two thirds of the TTL. The clock
	// tolerance covers 5 s of that time, and the node waits for the rest.
	t.Run("delays the first ids", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			durable bool
			age     time.Duration
			wait    time.Duration
		}{
			{name: "a new cache server", wait: 16 * time.Second},
			{name: "a recent cache server", age: 10 * time.Second, wait: 6 * time.Second},
			{name: "an old cache server", age: time.Minute},
			{name: "a new database", durable: true},
		} {
			t.Run(tc.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					out := captureLog(t)
					l, s := newLeases(t)
					s.Age = &tc.age
					s.Reports = &driver.Capabilities{
						Scope: driver.Cluster, Durable: tc.durable, Name: "fake",
					}
					start := time.Now()
					n := newLeased(t, l)
					if elapsed := time.Since(start); elapsed != tc.wait {
						t.Errorf("startup took %v, want %v", elapsed, tc.wait)
					}
					id := n.MustGenerate()
					holderEnd := start.Add(20*time.Second - tc.age) // of an unrecorded holder
					if !tc.durable && !timeOf(id).After(holderEnd) {
						t.Errorf("time of the first id = %v after startup, want more than %v",
							timeOf(id).Sub(start), holderEnd.Sub(start))
					}
					const line = "no record of former node ID holders"
					if logged := strings.Contains(out.String(), line); logged != (tc.wait > 0) {
						t.Errorf("wait is logged: %t, for a wait of %v", logged, tc.wait)
					}
				})
			})
		}
	})

	t.Run("delays the first ids with any clock tolerance", func(t *testing.T) {
		for _, tc := range []struct{ tolerance, late, wait time.Duration }{
			{tolerance: 10 * time.Millisecond, wait: 21*time.Second - 10*time.Millisecond},
			{tolerance: 450 * time.Millisecond, wait: 21*time.Second - 450*time.Millisecond},
			{tolerance: time.Second, wait: 20 * time.Second},
			{
				tolerance: 10 * time.Millisecond, late: 500 * time.Millisecond,
				wait: 21500*time.Millisecond - 10*time.Millisecond,
			},
			{tolerance: time.Hour, wait: 11 * time.Second}, // half of the lease window
		} {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
				s.Late = tc.late
				start := time.Now()
				// delays only the first call
				time.AfterFunc(tc.late/2,
					func() { s.Set(func(s *leasetest.Backend) { s.Late = 0 }) })
				n := newLeased(t, l, xsnowflake.WithMaxBackward(tc.tolerance))
				if elapsed := time.Since(start); elapsed != tc.wait {
					t.Errorf("startup with tolerance %v took %v, want %v",
						tc.tolerance, elapsed, tc.wait)
				}
				if id := n.MustGenerate(); timeOf(id).Before(start.Add(21 * time.Second)) {
					t.Errorf("time of the first id = %v after startup, want at least 21s",
						timeOf(id).Sub(start))
				}
			})
		}
	})

	// The record starts while the response is delayed, so the wait is counted from the
	// response.
	t.Run("delays the first ids from the arrival of a late response", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
			s.Late = 5 * time.Second
			start := time.Now()
			// delays of Join and Lease
			time.AfterFunc(8*time.Second,
				func() { s.Set(func(s *leasetest.Backend) { s.Late = 0 }) })
			n := newLeased(t, l)
			// 10 s of responses, two thirds of the TTL, and a second
			want := start.Add(10*time.Second + 21*time.Second)
			if id := n.MustGenerate(); timeOf(id).Before(want) {
				t.Errorf("time of the first id = %v after startup, want at least %v",
					timeOf(id).Sub(start), want.Sub(start))
			}
		})
	})
}

// The wait for unrecorded holders starts with Prepare.
func TestNode_Prepare(t *testing.T) {
	for _, tc := range []struct {
		name    string
		pause   time.Duration // between the startup and the request for the first id
		startup time.Duration // expected duration of the startup
		firstID time.Duration // expected duration of the request for the first id
	}{
		{name: "immediate first id", firstID: 16 * time.Second},
		{
			name:  "first id during the wait",
			pause: 10 * time.Second, firstID: 6 * time.Second,
		},
		{name: "first id after the TTL", pause: 20 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
				start := time.Now()
				n, err := xsnowflake.NewNode(xsnowflake.WithLeases(l, ttl), bubbleEpoch())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = n.Close() }()
				if err := n.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
				if elapsed := time.Since(start); elapsed != tc.startup {
					t.Errorf("startup took %v, want %v", elapsed, tc.startup)
				}
				<-time.After(tc.pause)
				requested := time.Now()
				id := n.MustGenerate()
				if elapsed := time.Since(requested); elapsed < tc.firstID ||
					elapsed > tc.firstID+time.Second {
					t.Errorf("the first id took %v, want %v", elapsed, tc.firstID)
				}
				if timeOf(id).Before(start.Add(20 * time.Second)) {
					t.Errorf("time of the first id = %v after startup, want at least 20s",
						timeOf(id).Sub(start))
				}
			})
		})
	}
}
