package xsnowflake_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/internal/leasetest"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
)

// wide is LayoutWide with the epoch of a bubble.
func wide() xsnowflake.Option {
	l := xsnowflake.LayoutWide
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return xsnowflake.WithLayout(l)
}

// aboutTTL reports whether a wait that began at start has lasted for the TTL and at most
// one more poll.
func aboutTTL(start time.Time) bool {
	took := time.Since(start)
	return took >= ttl && took <= ttl+time.Second
}

func TestNode_Lease_Layout(t *testing.T) {
	t.Run("nodes of one layout share a backend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			taken := map[int]bool{}
			for range 200 {
				n := newLeased(t, l, wide())
				if taken[n.NodeID()] {
					t.Fatalf("the number %d came twice", n.NodeID())
				}
				taken[n.NodeID()] = true
			}
		})
	})
	t.Run("another layout waits for the TTL and is then refused", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			first := newLeased(t, l)
			start := time.Now()
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), wide())
			if err == nil || !strings.Contains(err.Error(),
				"SNOWFLAKE_LAYOUT=wide here, another one in memory") || !aboutTTL(start) {
				t.Errorf("Lease = %v after %v, want the variable after %v",
					err, time.Since(start), ttl)
			}
			<-time.After(time.Minute)
			first.MustGenerate()
		})
	})
	t.Run("another layout begins when the last node has been gone for the TTL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			last := newLeased(t, l)
			id := last.MustGenerate()
			_ = last.Close()
			start := time.Now()
			if next := newLeased(t, l, wide()).MustGenerate(); next <= id || !aboutTTL(start) {
				t.Errorf("the first id of the other layout = %d after %v, want it after %d and %v",
					next, time.Since(start), id, ttl)
			}
		})
	})
	t.Run("a backend that has forgotten the layout is told again by those who renew",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				n := newLeased(t, l)
				s.Set(func(s *leasetest.Backend) { s.Backend = xlease.InProcess(nil) })
				<-time.After(15 * time.Second)
				n.MustGenerate()
				if _, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), wide()); err == nil {
					t.Error("a node of another layout got a number")
				}
			})
		})
	t.Run("a node whose backend has another layout by now stops with its next renewal",
		func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, s := newLeases(t)
				s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
				first := newLeased(t, l)
				forgotten := time.Now()
				s.Set(func(s *leasetest.Backend) { s.Backend = xlease.InProcess(nil) })
				other, err := xsnowflake.NewNode(xsnowflake.WithLeases(l, ttl), wide())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = other.Close() }()
				begun := make(chan xsnowflake.SnowflakeID)
				go func() { begun <- other.MustGenerate() }()
				var last xsnowflake.SnowflakeID
				// a third of what the lease lasts
				for err == nil && time.Since(forgotten) < 7*time.Second {
					<-time.After(time.Millisecond)
					var id xsnowflake.SnowflakeID
					if id, err = first.Generate(); err == nil {
						last = id
					}
				}
				if !errors.Is(err, xlease.ErrLost) {
					t.Errorf("Generate = %v after the renewal, want ErrLost", err)
				}
				if next := <-begun; !timeOf(next).After(timeOf(last)) {
					t.Errorf("the other layout begins %v before the last id of the first one",
						timeOf(last).Sub(timeOf(next)))
				}
			})
		})
}

func TestNode_Lease_Held(t *testing.T) {
	t.Run("waits for the number of a process that was killed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := xlease.InProcess(nil)
			killed, l := xlease.New(b), xlease.New(b)
			defer func() { _ = l.Close() }()
			for range 8 { // nothing renews these
				if _, err := killed.Lease(t.Context(), xsnowflake.LeaseName, ttl,
					xlease.WithSlots(0, 8), xlease.WithMark(0, 0),
					xlease.WithManualRenewal()); err != nil {
					t.Fatal(err)
				}
			}
			start := time.Now()
			newLeased(t, l, xsnowflake.WithDatacenterID(0))
			if !aboutTTL(start) {
				t.Errorf("the number came after %v, want it when those of the killed process end, after %v", time.Since(start), ttl)
			}
		})
	})
	t.Run("reports that all are held after the TTL, and how to have more", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			for range 64 {
				newLeased(t, l)
			}
			start := time.Now()
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), bubble())
			if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(),
				"SNOWFLAKE_LAYOUT=wide for all replicas, which has 1024") {
				t.Errorf("Lease = %v, want ErrNoSlot with the layout that has more", err)
			}
			if !aboutTTL(start) {
				t.Errorf("it took %v, want %v", time.Since(start), ttl)
			}
		})
	})
}
