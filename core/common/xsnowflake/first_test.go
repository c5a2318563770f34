package xsnowflake_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

// lazy returns a node that leases its node ID from b with the first id.
func lazy(t *testing.T, b driver.Backend) *xsnowflake.Node {
	t.Helper()
	n, err := xsnowflake.NewNode(leases(b), bubble())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// blocked is a backend that waits for its channel.
type blocked struct {
	shop

	free chan struct{}
}

func (b *blocked) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	select {
	case <-b.free:
		return b.shop.Acquire(ctx, r)
	case <-ctx.Done():
		return driver.Grant{}, ctx.Err()
	}
}

func TestNode_Lease(t *testing.T) {
	t.Run("a node that makes no id takes no number", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{next: 21}
			n := lazy(t, s)
			<-time.After(time.Hour)
			if err := n.CheckHealth(t.Context()); err != nil || n.Leased() {
				t.Errorf("CheckHealth = %v, Leased %t; want a healthy node without a number",
					err, n.Leased())
			}
			if leases, _, _ := s.counts(); leases != 0 {
				t.Errorf("%d leases before the first id, want none", leases)
			}
			if id := n.MustGenerate(); id.DatacenterID() != 2 || id.NodeID() != 5 || !n.Leased() {
				t.Errorf("id of node %d/%d, Leased %t; want 2/5 and true",
					id.DatacenterID(), id.NodeID(), n.Leased())
			}
			<-time.After(time.Hour)
			n.MustGenerate()
			if leases, renewals, _ := s.counts(); leases != 1 || renewals < 300 {
				t.Errorf("%d leases, %d renewals in an hour; want one that is renewed",
					leases, renewals)
			}
		})
	})
	t.Run("callers share one attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blocked{free: make(chan struct{})}
			n := lazy(t, b)
			var callers sync.WaitGroup
			ids := make([]xsnowflake.SnowflakeID, 50)
			for i := range ids {
				callers.Go(func() { ids[i] = n.MustGenerate(xsnowflake.Gene(i % 3)) })
			}
			synctest.Wait()
			close(b.free)
			callers.Wait()
			seen := map[xsnowflake.SnowflakeID]bool{}
			for _, id := range ids {
				seen[id] = true
			}
			if leases, _, _ := b.counts(); leases != 1 || len(seen) != len(ids) {
				t.Errorf("%d leases, %d different ids; want 1 and %d", leases, len(seen), len(ids))
			}
		})
	})
	t.Run("a context ends the wait and not the attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blocked{free: make(chan struct{})}
			n := lazy(t, b)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := xsnowflake.GenerateSnowflakeID(context.WithValue(ctx, xctx.SnowflakeNodeKey,
				n))
			if err == nil || !errors.Is(err, context.DeadlineExceeded) ||
				err.GetErrorCode().GetOutput() != "SERVICE_UNAVAILABLE" {
				t.Errorf("the first id = %v, want the end of the context as SERVICE_UNAVAILABLE",
					err)
			}
			if err := n.CheckHealth(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("CheckHealth while ids wait = %v, want the end of its context", err)
			}
			close(b.free)
			n.MustGenerate()
			if leases, _, _ := b.counts(); leases != 1 {
				t.Errorf("%d leases, want that of the first attempt", leases)
			}
		})
	})
	t.Run("ids are made at once after the wait for a former holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			// the node rides out 5 s
			n := lazy(t, &shop{floor: time.Now().Add(5*time.Second + 300*time.Millisecond)})
			if err := n.Lease(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 100 {
				if _, err := n.Generate(); err != nil {
					t.Fatal(err)
				}
				<-time.After(100 * time.Microsecond)
			}
		})
	})
	t.Run("the wait for a former holder is no failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := lazy(t, &shop{floor: time.Now().Add(16 * time.Second)})
			made := make(chan xsnowflake.SnowflakeID)
			go func() { made <- n.MustGenerate() }()
			synctest.Wait()
			if err := n.CheckHealth(t.Context()); !errors.Is(err, xsnowflake.ErrWaiting) {
				t.Errorf("CheckHealth while ids wait = %v, want ErrWaiting", err)
			}
			<-made
			if err := n.CheckHealth(t.Context()); err != nil {
				t.Errorf("CheckHealth after the first id = %v", err)
			}
		})
	})
	t.Run("a check that began before that wait ends in time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blocked{free: make(chan struct{})}
			b.floor = time.Now().Add(16 * time.Second)
			n := lazy(t, b)
			made := make(chan xsnowflake.SnowflakeID)
			go func() { made <- n.MustGenerate() }()
			synctest.Wait()
			time.AfterFunc(500*time.Millisecond, func() { close(b.free) })
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := n.CheckHealth(ctx); !errors.Is(err, xsnowflake.ErrWaiting) ||
				ctx.Err() != nil {
				t.Errorf("CheckHealth = %v, its context %v; want ErrWaiting before the context ends", err, ctx.Err())
			}
			<-made
		})
	})
	t.Run("a failure is returned, makes the node unhealthy and passes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{broken: true}
			n := lazy(t, s)
			if _, err := n.Generate(); err == nil {
				t.Error("an id without a number")
			}
			if err := n.CheckHealth(t.Context()); err == nil {
				t.Error("CheckHealth = nil after a failed attempt")
			}
			s.set(func(s *shop) { s.broken = false })
			if err := n.CheckHealth(t.Context()); err != nil {
				t.Errorf("CheckHealth = %v, want it to try again", err)
			}
			n.MustGenerate()
		})
	})
	t.Run("Close ends an attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := lazy(t, &blocked{free: make(chan struct{})})
			failed := make(chan error)
			go func() {
				_, err := n.Generate()
				failed <- err
			}()
			synctest.Wait()
			go func() { _ = n.Close() }()
			if err := <-failed; !errors.Is(err, xsnowflake.ErrClosed) {
				t.Errorf("Generate = %v, want ErrClosed", err)
			}
		})
	})
	t.Run("a folder that cannot be used is reported by Prepare", func(t *testing.T) {
		t.Setenv("SNOWFLAKE_LEASE_DIR", "/dev/null/x")
		n, err := xsnowflake.FromEnv()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Close() }()
		if err := n.Prepare(t.Context()); err == nil {
			t.Error("Prepare = nil, want the error of the folder")
		}
	})
}
