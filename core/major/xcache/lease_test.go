package xcache_test

import (
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

func TestManager_Lease(t *testing.T) {
	t.Run("excludes managers with the same store and prefix", func(t *testing.T) {
		store := drivertest.NewMapStore(nil)
		a := managerOf(t, store, xcache.WithPrefix("a:"))
		same := managerOf(t, store, xcache.WithPrefix("a:"))
		other := managerOf(t, store, xcache.WithPrefix("b:"))
		for _, m := range []*xcache.Manager{a, other} {
			lease, err := m.Lease(t.Context(), "job", time.Minute)
			check(t, err)
			defer func() { check(t, lease.Release(t.Context())) }()
		}
		if _, err := same.Lease(t.Context(), "job", time.Minute); !errors.Is(err, xlease.ErrHeld) {
			t.Errorf("Lease = %v, want ErrHeld", err)
		}
	})

	t.Run("is released when the manager closes", func(t *testing.T) {
		m := newManager(t)
		leases, err := m.Leases()
		check(t, err)
		if second, _ := m.Leases(); second != leases {
			t.Error("Leases returned a different value")
		}
		lease, err := m.Lease(t.Context(), "job", time.Minute)
		check(t, err)
		check(t, m.Close())
		<-lease.Done()
		if err := lease.Err(); !errors.Is(err, xlease.ErrReleased) {
			t.Errorf("lease error = %v, want ErrReleased", err)
		}
		_, err = leases.Lease(t.Context(), "job", time.Minute)
		if !errors.Is(err, xlease.ErrClosed) {
			t.Errorf("Lease after Close = %v, want ErrClosed", err)
		}
		check(t, m.Close())
	})

	t.Run("reports a store without leases", func(t *testing.T) {
		m := managerOf(t, unbatched{drivertest.NewMapStore(nil)})
		if _, err := m.Leases(); !errors.Is(err, xlease.ErrUnsupported) {
			t.Errorf("Leases = %v, want ErrUnsupported", err)
		}
		_, err := m.Lease(t.Context(), "job", time.Minute)
		if !errors.Is(err, xlease.ErrUnsupported) {
			t.Errorf("Lease = %v, want ErrUnsupported", err)
		}
	})
}
