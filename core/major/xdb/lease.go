package xdb

import (
	"fmt"
	"sync/atomic"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xdb/internal/sqllease"
)

// Leases returns the leases that the database stores in the table plinth_leases. It
// returns the same value on each call until Close, which releases the leases. It sends
// nothing to the database. The first lease, or Leases.Prepare, creates the table if it is
// missing, which requires the privilege to create tables.
//
// The statements of leases go to the primary and run outside any transaction, even if db
// is one. The error is xlease.ErrUnsupported if the driver has no clock for leases, or if
// db was opened without a driver name.
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

// leaseKeeper is a gorm plugin that owns the leases of a database until Close.
type leaseKeeper struct {
	leases *xlease.Leases
	err    error // why leases is nil
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

// close releases all leases and stops the background work. A second call does nothing.
func (k *leaseKeeper) close() error {
	k.closed.Store(true)
	if k.leases == nil {
		return nil
	}
	return k.leases.Close()
}
