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

// These checks are about the manager's part in leases. What a lease is, package leasetest
// says.
var leaseChecks = []check{
	{"Lease/ExcludesAnotherManagerAndEndsWithIts", testLease},
	{"Lease/NamesAreUnderThePrefix", testLeasePrefix},
}

// leaseName is unlike any key of other checks, also of those that run elsewhere just now.
func (e *env) leaseName() string { return "job-" + strings.Trim(e.prefix, ":") }

// lease takes the name; nil where the store keeps no leases.
func (e *env) lease(t testing.TB, m *xcache.Manager) (*xlease.Lease, error) {
	t.Helper()
	if _, ok := e.m.Store().(driver.Leaser); !ok {
		return nil, nil
	}
	return m.Lease(t.Context(), e.leaseName(), 20*time.Second)
}

// lasting is a store that a second manager uses too, and that outlives the first.
type lasting struct {
	driver.Store
	driver.Leaser
}

// Close implements driver.Store.
func (lasting) Close() error { return nil }

// twin returns another manager of the same backend: of the same store, where others could
// not know of its leases.
func (e *env) twin(t *testing.T, opts ...xcache.ManagerOption) *xcache.Manager {
	t.Helper()
	leaser, ok := e.m.Store().(driver.Leaser)
	if !ok {
		if _, err := e.m.Leases(); !errors.Is(err, xlease.ErrUnsupported) {
			t.Errorf("Leases = %v, want xlease.ErrUnsupported", err)
		}
		t.Skip("the store is no driver.Leaser")
	}
	if leaser.LeaseBackend("").Capabilities().Scope != leasedriver.Process {
		return e.open(t, opts...)
	}
	return e.manage(t, lasting{e.m.Store(), leaser}, opts...)
}

func testLease(t *testing.T, e *env) {
	a, b := e.twin(t), e.twin(t)
	lease, err := e.lease(t, a)
	must(t, err)
	if _, err := e.lease(t, b); !errors.Is(err, xlease.ErrHeld) {
		t.Errorf("Lease of what another manager holds = %v, want ErrHeld", err)
	}
	must(t, a.Close())
	<-lease.Done()
	if err := lease.Err(); !errors.Is(err, xlease.ErrReleased) {
		t.Errorf("a lease of a manager that was closed ended with %v, want ErrReleased", err)
	}
	if _, err := e.lease(t, a); !errors.Is(err, xcache.ErrClosed) {
		t.Errorf("Lease after Close = %v, want ErrClosed", err)
	}
	next, err := e.lease(t, b)
	must(t, err)
	if next.Token() <= lease.Token() {
		t.Errorf("the next token = %d, want more than %d", next.Token(), lease.Token())
	}
	must(t, next.Release(t.Context()))
}

func testLeasePrefix(t *testing.T, e *env) {
	a := e.twin(t)
	other := e.twin(t, xcache.WithPrefix(e.prefix+"other:"))
	lease, err := e.lease(t, a)
	must(t, err)
	elsewhere, err := e.lease(t, other)
	must(t, err)
	// a key of the same name is another thing
	must(t, e.users().Set(t.Context(), e.leaseName(), &user{ID: 1}))
	if _, err := e.lease(t, a); !errors.Is(err, xlease.ErrHeld) {
		t.Errorf("Lease beside a key of its name = %v, want ErrHeld", err)
	}
	must(t, elsewhere.Release(t.Context()))
	must(t, lease.Release(t.Context()))
	wantValue(t, e.users(), e.leaseName(), user{ID: 1})
}
