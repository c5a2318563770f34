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

// wide is LayoutWide with an epoch before the time in synctest bubbles.
func wide() xsnowflake.Option {
	l := xsnowflake.LayoutWide
	l.Epoch = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	return xsnowflake.WithLayout(l)
}

// aboutTTL reports whether the time since start is between the TTL and the TTL plus one
// poll.
func aboutTTL(start time.Time) bool {
	elapsed := time.Since(start)
	return elapsed >= ttl && elapsed <= ttl+time.Second
}

func TestNode_Lease_Layout(t *testing.T) {
	t.Run("nodes of one layout share a backend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			used := map[int]bool{}
			for range 200 {
				n := newLeased(t, l, wide())
				if used[n.NodeID()] {
					t.Fatalf("node ID %d is used twice", n.NodeID())
				}
				used[n.NodeID()] = true
			}
		})
	})
	t.Run("another layout fails after the TTL", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			first := newLeased(t, l)
			start := time.Now()
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), wide())
			if err == nil || !strings.Contains(err.Error(),
				"SNOWFLAKE_LAYOUT=wide here, another layout in memory") || !aboutTTL(start) {
				t.Errorf("Lease = %v after %v, want an error with the variable after %v",
					err, time.Since(start), ttl)
			}
			<-time.After(time.Minute)
			first.MustGenerate()
		})
	})
	t.Run("another layout starts a TTL after the last node", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			last := newLeased(t, l)
			id := last.MustGenerate()
			_ = last.Close()
			start := time.Now()
			if next := newLeased(t, l, wide()).MustGenerate(); next <= id || !aboutTTL(start) {
				t.Errorf("first id of the other layout = %d after %v, want more than %d after %v",
					next, time.Since(start), id, ttl)
			}
		})
	})
	t.Run("renewal restores a layout record that the backend lost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			n := newLeased(t, l)
			s.Set(func(s *leasetest.Backend) { s.Backend = xlease.InProcess(nil) })
			<-time.After(15 * time.Second)
			n.MustGenerate()
			if _, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), wide()); err == nil {
				t.Error("a node of another layout leased a node ID")
			}
		})
	})
	t.Run("a node stops at its next renewal if the backend has another layout", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, s := newLeases(t)
			s.Reports = &driver.Capabilities{Scope: driver.Cluster, Name: "fake"}
			first := newLeased(t, l)
			lostAt := time.Now() // the backend loses its records
			s.Set(func(s *leasetest.Backend) { s.Backend = xlease.InProcess(nil) })
			other, err := xsnowflake.NewNode(xsnowflake.WithLeases(l, ttl), wide())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.Close() }()
			firstID := make(chan xsnowflake.SnowflakeID)
			go func() { firstID <- other.MustGenerate() }()
			var last xsnowflake.SnowflakeID
			// a third of the lease window
			for err == nil && time.Since(lostAt) < 7*time.Second {
				<-time.After(time.Millisecond)
				var id xsnowflake.SnowflakeID
				if id, err = first.Generate(); err == nil {
					last = id
				}
			}
			if !errors.Is(err, xlease.ErrLost) {
				t.Errorf("Generate = %v after the renewal, want ErrLost", err)
			}
			if next := <-firstID; !timeOf(next).After(timeOf(last)) {
				t.Errorf("first id of the other layout is %v before the last id of the first",
					timeOf(last).Sub(timeOf(next)))
			}
		})
	})
}

func TestNode_Lease_Held(t *testing.T) {
	t.Run("waits for the node ID of a killed process", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := xlease.InProcess(nil)
			killed, l := xlease.New(b), xlease.New(b)
			defer func() { _ = l.Close() }()
			for range 8 { // these are not renewed
				if _, err := killed.Lease(t.Context(), xsnowflake.LeaseName, ttl,
					xlease.WithSlots(0, 8), xlease.WithMark(0, 0),
					xlease.WithManualRenewal()); err != nil {
					t.Fatal(err)
				}
			}
			start := time.Now()
			newLeased(t, l, xsnowflake.WithDatacenterID(0))
			if !aboutTTL(start) {
				t.Errorf("node ID leased after %v, want it after the leases expire, after %v",
					time.Since(start), ttl)
			}
		})
	})
	t.Run("reports after the TTL that all are held, with a hint", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l, _ := newLeases(t)
			for range 64 {
				newLeased(t, l)
			}
			start := time.Now()
			_, err := leasedNode(t, xsnowflake.WithLeases(l, ttl), bubbleEpoch())
			if !errors.Is(err, xsnowflake.ErrNoSlot) || !strings.Contains(err.Error(),
				"SNOWFLAKE_LAYOUT=wide for all replicas, which has 1024") {
				t.Errorf("Lease = %v, want ErrNoSlot with a larger layout", err)
			}
			if !aboutTTL(start) {
				t.Errorf("Lease took %v, want %v", time.Since(start), ttl)
			}
		})
	})
}
