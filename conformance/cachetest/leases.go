package cachetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// leaseChecks cover the manager. Package leasetest checks the semantics of leases.
var leaseChecks = []check{
	{"Lease/ExclusiveUntilClose", testLease},
	{"Lease/Prefix", testLeasePrefix},
}

// leaseName returns a name that no other check uses, even in another process.
func (e *env) leaseName() string { return "job-" + strings.Trim(e.prefix, ":") }

// lease acquires the lease name. It returns nil if the store does not support leases.
func (e *env) lease(t testing.TB, m *xcache.Manager) (*xlease.Lease, error) {
	t.Helper()
	if _, ok := e.m.Store().(driver.Leaser); !ok {
		return nil, nil
	}
	return m.Lease(t.Context(), e.leaseName(), 20*time.Second)
}

// keepOpen is a store that two managers share. Its Close does nothing.
type keepOpen struct {
	driver.Store
	driver.Leaser
}

// Close implements driver.Store.
func (keepOpen) Close() error { return nil }

// secondManager returns another manager that shares leases with e.m. In-process leases
// are shared only within one store.
func (e *env) secondManager(t *testing.T, opts ...xcache.ManagerOption) *xcache.Manager {
	t.Helper()
	leaser, ok := e.m.Store().(driver.Leaser)
	if !ok {
		if _, err := e.m.Leases(); !errors.Is(err, xlease.ErrUnsupported) {
			t.Errorf("Leases = %v, want xlease.ErrUnsupported", err)
		}
		t.Skip("the store is not a driver.Leaser")
	}
	if leaser.LeaseBackend("").Capabilities().Scope != leasedriver.Process {
		return e.open(t, opts...)
	}
	return e.manage(t, keepOpen{e.m.Store(), leaser}, opts...)
}

func testLease(t *testing.T, e *env) {
	a, b := e.secondManager(t), e.secondManager(t)
	lease, err := e.lease(t, a)
	must(t, err)
	if _, err := e.lease(t, b); !errors.Is(err, xlease.ErrHeld) {
		t.Errorf("Lease held by another manager: %v, want ErrHeld", err)
	}
	must(t, a.Close())
	<-lease.Done()
	if err := lease.Err(); !errors.Is(err, xlease.ErrReleased) {
		t.Errorf("lease error after Close = %v, want ErrReleased", err)
	}
	if _, err := e.lease(t, a); !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Lease after Close = %v, want ErrClosed", err)
	}
	next, err := e.lease(t, b)
	must(t, err)
	if next.Token() <= lease.Token() {
		t.Errorf("next token = %d, want more than %d", next.Token(), lease.Token())
	}
	must(t, next.Release(t.Context()))
}

func testLeasePrefix(t *testing.T, e *env) {
	a := e.secondManager(t)
	other := e.secondManager(t, xcache.WithPrefix(e.prefix+"other:"))
	lease, err := e.lease(t, a)
	must(t, err)
	second, err := e.lease(t, other)
	must(t, err)
	// A key with the same name is independent of the lease.
	must(t, e.users().Set(t.Context(), e.leaseName(), &user{ID: 1}))
	if _, err := e.lease(t, a); !errors.Is(err, xlease.ErrHeld) {
		t.Errorf("Lease next to a key with its name = %v, want ErrHeld", err)
	}
	must(t, second.Release(t.Context()))
	must(t, lease.Release(t.Context()))
	wantValue(t, e.users(), e.leaseName(), user{ID: 1})
}
