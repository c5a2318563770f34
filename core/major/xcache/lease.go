package xcache

import (
	"context"
	"sync"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// leaseMark is what the keys of leases begin with, behind the manager's prefix.
const leaseMark = "\x00lease\x00"

// managerLeases are the leases of a manager, made when somebody asks for them. The zero value is ready to use.
type managerLeases struct {
	mu     sync.Mutex
	closed bool
	made   *xlease.Leases
}

// Leases returns the locks and leases that the backend keeps, under keys behind the manager's prefix: all managers with
// the same prefix on the same server share them. They end with the manager. The error wraps xlease.ErrUnsupported
// where the backend keeps none.
func (m *Manager) Leases() (*xlease.Leases, error) {
	m.leases.mu.Lock()
	defer m.leases.mu.Unlock()
	if m.leases.closed {
		return nil, fail("lease", ErrClosed)
	}
	if m.leases.made == nil {
		backend, ok := m.store.(driver.Leaser)
		if !ok {
			return nil, fail("lease", xlease.ErrUnsupported)
		}
		m.leases.made = xlease.New(backend.LeaseBackend(m.prefix + leaseMark))
	}
	return m.leases.made, nil
}

// Lease is Leases and xlease.Leases.Lease: it takes the name for ttl, and renews it until it is released, lost, or the
// manager is closed.
func (m *Manager) Lease(ctx context.Context, name string, ttl time.Duration, opts ...xlease.LeaseOption) (*xlease.Lease, error) {
	leases, err := m.Leases()
	if err != nil {
		return nil, err
	}
	return leases.Lease(ctx, name, ttl, opts...)
}

// close releases the leases.
func (l *managerLeases) close() error {
	l.mu.Lock()
	l.closed = true
	made := l.made
	l.mu.Unlock()
	if made == nil {
		return nil
	}
	return made.Close()
}
