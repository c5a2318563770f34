package xdb

import (
	"fmt"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xdb/internal/sqllease"
)

// Leases returns the leases that the database stores in its table plinth_leases: the same
// ones at each call, until Close, which releases them. It sends nothing: the first lease,
// or Leases.Prepare, creates the table if it is missing, and only then needs the right to
// do so.
//
// Their statements go to the primary, each by itself: never in a transaction that db may
// be, nor in one that is open for longer than its statement. The error is
// xlease.ErrUnsupported if the driver has no clock for them, or if db was not opened by a
// driver's name.
func Leases(db *gorm.DB) (*xlease.Leases, error) {
	k, ok := db.Plugins[leasesName].(*leaseKeeper)
	switch {
	case !ok:
		return nil, fmt.Errorf("xdb: leases: %w: this %s database was not opened by xdb.Open",
			xlease.ErrUnsupported, db.Name())
	case k.closed.Load():
		return nil, fmt.Errorf("xdb: leases: %w", xlease.ErrClosed)
	case k.err != nil:
		return nil, fmt.Errorf("xdb: leases: %w", k.err)
	default:
		return k.leases, nil
	}
}

const leasesName = "plinth:leases"

// leaseKeeper is a gorm plugin that keeps the leases of a database until Close.
type leaseKeeper struct {
	leases *xlease.Leases
	err    error // why there are none
	closed atomic.Bool
}

// Name implements gorm.Plugin.
func (*leaseKeeper) Name() string { return leasesName }

// Initialize implements gorm.Plugin.
func (k *leaseKeeper) Initialize(db *gorm.DB) error {
	var b *sqllease.Backend
	if b, k.err = sqllease.New(db); k.err == nil {
		k.leases = xlease.New(b)
	}
	return nil
}

// close releases all leases, and ends what runs in the background. A second call does
// nothing.
func (k *leaseKeeper) close() error {
	k.closed.Store(true)
	if k.leases == nil {
		return nil
	}
	return k.leases.Close()
}
