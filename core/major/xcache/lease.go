package xcache

import (
	"context"
	"errors"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
)

// leaseMark follows the manager's prefix in the keys of leases.
const leaseMark = "\x00lease\x00"

// Leases returns the leases that the backend stores under the manager's prefix. All
// managers with this prefix on the same server share them. Close of the manager releases
// them. The error wraps xlease.ErrUnsupported if the backend does not support leases.
func (m *Manager) Leases() (*xlease.Leases, error) {
	if m.leases == nil {
		return nil, fail("lease", xlease.ErrUnsupported)
	}
	return m.leases, nil
}

// Lease acquires the lease with this name for ttl. The lease is renewed until it is
// released or lost, or until the manager is closed. See xlease.Leases.Lease.
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
