package xcache

import (
	"context"
	"errors"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

// leaseMark is what the keys of leases begin with, behind the manager's prefix.
const leaseMark = "\x00lease\x00"

// Leases returns the locks and leases that the backend keeps, under keys behind the
// manager's prefix: all managers with the same prefix on the same server share them. They
// end with the manager. The error wraps xlease.ErrUnsupported where the backend keeps
// none.
func (m *Manager) Leases() (*xlease.Leases, error) {
	if m.leases == nil {
		return nil, fail("lease", xlease.ErrUnsupported)
	}
	return m.leases, nil
}

// Lease is Leases and xlease.Leases.Lease: it takes the name for ttl, and renews it until
// it is released, lost, or the manager is closed.
func (m *Manager) Lease(
	ctx context.Context, name string, ttl time.Duration, opts ...xlease.LeaseOption,
) (*xlease.Lease, error) {
	leases, err := m.Leases()
	if err != nil {
		return nil, err
	}
	lease, err := leases.Lease(ctx, name, ttl, opts...)
	if errors.Is(err, xlease.ErrClosed) {
		err = fail("lease", ErrClosed)
	}
	return lease, err
}
