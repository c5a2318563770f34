package memory

import (
	"context"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
)

// LeaseBackend implements driver.Leaser. Lease records are not cache entries: they are
// never evicted and do not count towards NOSQL_MEMORY_MAX_ENTRIES.
func (s *store) LeaseBackend(prefix string) leasedriver.Backend {
	return leases{Backend: s.leases, store: s, prefix: prefix}
}

// leases is the lease backend of a store for one prefix. After the store is closed, only
// Release works.
type leases struct {
	leasedriver.Backend

	store  *store
	prefix string
}

// Acquire implements leasedriver.Backend.
func (l leases) Acquire(ctx context.Context, r leasedriver.Request) (leasedriver.Grant, error) {
	if err := l.store.err(); err != nil {
		return leasedriver.Grant{}, err
	}
	r.Name = l.prefix + r.Name
	return l.Backend.Acquire(ctx, r)
}

// Renew implements leasedriver.Backend.
func (l leases) Renew(ctx context.Context, h leasedriver.Holding) (bool, error) {
	if err := l.store.err(); err != nil {
		return false, err
	}
	h.Name = l.prefix + h.Name
	return l.Backend.Renew(ctx, h)
}

// Release implements leasedriver.Backend.
func (l leases) Release(ctx context.Context, h leasedriver.Holding) (bool, error) {
	h.Name = l.prefix + h.Name
	return l.Backend.Release(ctx, h)
}
