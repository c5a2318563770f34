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

// newUnleased returns a node that leases its node ID from b with the first id.
func newUnleased(t *testing.T, b driver.Backend) *xsnowflake.Node {
	t.Helper()
	n, err := xsnowflake.NewNode(leases(b), bubbleEpoch())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return n
}

// blockedBackend grants leases only after free is closed.
type blockedBackend struct {
	fakeBackend

	free chan struct{}
}

func (b *blockedBackend) Acquire(ctx context.Context, r driver.Request) (driver.Grant, error) {
	select {
	case <-b.free:
		return b.fakeBackend.Acquire(ctx, r)
	case <-ctx.Done():
		return driver.Grant{}, ctx.Err()
	}
}

func TestNode_Lease(t *testing.T) {
	t.Run("a node without ids leases no node ID", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{next: 21}
			n := newUnleased(t, s)
			<-time.After(time.Hour)
			if err := n.CheckHealth(t.Context()); err != nil || n.Leased() {
				t.Errorf("CheckHealth = %v, Leased %t; want a healthy node without a node ID",
					err, n.Leased())
			}
			if leases, _, _ := s.counts(); leases != 0 {
				t.Errorf("%d leases before the first id, want 0", leases)
			}
			if id := n.MustGenerate(); id.DatacenterID() != 2 || id.NodeID() != 5 || !n.Leased() {
				t.Errorf("id of node %d/%d, Leased %t; want 2/5 and true",
					id.DatacenterID(), id.NodeID(), n.Leased())
			}
			<-time.After(time.Hour)
			n.MustGenerate()
			if leases, renewals, _ := s.counts(); leases != 1 || renewals < 300 {
				t.Errorf("%d leases, %d renewals in an hour; want one renewed lease",
					leases, renewals)
			}
		})
	})
	t.Run("callers share one attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blockedBackend{free: make(chan struct{})}
			n := newUnleased(t, b)
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
	t.Run("a canceled context does not cancel the attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blockedBackend{free: make(chan struct{})}
			n := newUnleased(t, b)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := xsnowflake.GenerateSnowflakeID(
				context.WithValue(ctx, xctx.SnowflakeNodeKey, n))
			if err == nil || !errors.Is(err, context.DeadlineExceeded) ||
				err.GetErrorCode().GetOutput() != "SERVICE_UNAVAILABLE" {
				t.Errorf("first id: %v, want DeadlineExceeded as SERVICE_UNAVAILABLE", err)
			}
			if err := n.CheckHealth(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("CheckHealth while ids wait = %v, want DeadlineExceeded", err)
			}
			close(b.free)
			n.MustGenerate()
			if leases, _, _ := b.counts(); leases != 1 {
				t.Errorf("%d leases, want only that of the first attempt", leases)
			}
		})
	})
	t.Run("ids are available immediately after the wait for a former holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			// the tolerance is 5 s
			n := newUnleased(t,
				&fakeBackend{minMark: time.Now().Add(5*time.Second + 300*time.Millisecond)})
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
	t.Run("CheckHealth returns ErrWaiting during the wait for a former holder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newUnleased(t, &fakeBackend{minMark: time.Now().Add(16 * time.Second)})
			generated := make(chan xsnowflake.SnowflakeID)
			go func() { generated <- n.MustGenerate() }()
			synctest.Wait()
			if err := n.CheckHealth(t.Context()); !errors.Is(err, xsnowflake.ErrWaiting) {
				t.Errorf("CheckHealth while ids wait = %v, want ErrWaiting", err)
			}
			<-generated
			if err := n.CheckHealth(t.Context()); err != nil {
				t.Errorf("CheckHealth after the first id = %v", err)
			}
		})
	})
	t.Run("CheckHealth returns in time if the wait starts during the check", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := &blockedBackend{free: make(chan struct{})}
			b.minMark = time.Now().Add(16 * time.Second)
			n := newUnleased(t, b)
			generated := make(chan xsnowflake.SnowflakeID)
			go func() { generated <- n.MustGenerate() }()
			synctest.Wait()
			time.AfterFunc(500*time.Millisecond, func() { close(b.free) })
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			if err := n.CheckHealth(ctx); !errors.Is(err, xsnowflake.ErrWaiting) ||
				ctx.Err() != nil {
				t.Errorf("CheckHealth = %v, its context %v; want ErrWaiting before the deadline",
					err, ctx.Err())
			}
			<-generated
		})
	})
	t.Run("a failure makes the node unhealthy temporarily", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &fakeBackend{down: true}
			n := newUnleased(t, s)
			if _, err := n.Generate(); err == nil {
				t.Error("no error without a node ID")
			}
			if err := n.CheckHealth(t.Context()); err == nil {
				t.Error("CheckHealth = nil after a failed attempt")
			}
			s.set(func(s *fakeBackend) { s.down = false })
			if err := n.CheckHealth(t.Context()); err != nil {
				t.Errorf("CheckHealth = %v, want a new attempt", err)
			}
			n.MustGenerate()
		})
	})
	t.Run("Close cancels an attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := newUnleased(t, &blockedBackend{free: make(chan struct{})})
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
	t.Run("Prepare reports an unusable directory", func(t *testing.T) {
		t.Setenv("SNOWFLAKE_LEASE_DIR", "/dev/null/x")
		n, err := xsnowflake.FromEnv()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = n.Close() }()
		if err := n.Prepare(t.Context()); err == nil {
			t.Error("Prepare = nil, want the error of the directory")
		}
	})
}
