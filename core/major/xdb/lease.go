package xdb

import (
	"context"
	"fmt"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/internal/sqllease"
)

// Leases returns the leases that the database stores in its table plinth_leases: the same ones at each
// call, until Close, which releases them. It sends nothing: the first lease, or Leases.Prepare, creates the
// table if it is missing, and only then needs the right to do so.
//
// Their statements go to the primary, each by itself: never in a transaction that db may be, nor in one that is open for
// longer than its statement. The error is xlease.ErrUnsupported if the driver has no clock for them, or if db was not
// opened by a driver's name.
func Leases(db *gorm.DB) (*xlease.Leases, error) {
	k, ok := db.Plugins[leasesName].(*leaseKeeper)
	if !ok {
		return nil, fmt.Errorf("xdb: leases: %w: this %s database was not opened by xdb.Open", xlease.ErrUnsupported, db.Name())
	}
	leases, err := k.get()
	if err != nil {
		return nil, fmt.Errorf("xdb: leases: %w", err)
	}
	return leases, nil
}

// LeaseBackend returns the backend of Leases, for package leasetest.
func LeaseBackend(db *gorm.DB) (leasedriver.Backend, error) {
	leases, err := Leases(db)
	if err != nil {
		return nil, err
	}
	return leases.Backend(), nil
}

const leasesName = "plinth:leases"

// leaseKeeper is a gorm plugin that keeps the leases of a database from the first call of Leases until Close.
type leaseKeeper struct {
	info *dbconn.Info
	db   *gorm.DB // the one that was opened, never a transaction

	mu     sync.Mutex
	closed bool
	leases *xlease.Leases // nil before the first call
}

// Name implements gorm.Plugin.
func (*leaseKeeper) Name() string { return leasesName }

// Initialize implements gorm.Plugin.
func (k *leaseKeeper) Initialize(db *gorm.DB) error {
	k.db = db
	return nil
}

// get returns the leases, and opens them at the first call.
func (k *leaseKeeper) get() (*xlease.Leases, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return nil, xlease.ErrClosed
	case k.leases != nil:
		return k.leases, nil
	}
	if k.info.Driver == nil {
		return nil, fmt.Errorf("%w: the database was opened by a Dialector, not by the name of a driver", xlease.ErrUnsupported)
	}
	clock, ok := k.info.Driver.(driver.Clock)
	if !ok {
		return nil, fmt.Errorf("%w: the driver %s has no clock for them", xlease.ErrUnsupported, k.info.Name)
	}
	silent := k.db.Session(&gorm.Session{NewDB: true, SkipDefaultTransaction: true, Logger: logger.Discard})
	b, err := sqllease.New(sqllease.Config{
		Info: k.info, Clock: clock,
		Session: func(ctx context.Context) *gorm.DB { return silent.WithContext(WithPrimary(ctx)) },
	})
	if err != nil {
		return nil, err
	}
	k.leases = xlease.New(b)
	return k.leases, nil
}

// close releases all leases, and ends what runs in the background. A second call does nothing.
func (k *leaseKeeper) close() error {
	k.mu.Lock()
	k.closed = true
	leases := k.leases
	k.mu.Unlock()
	if leases == nil {
		return nil
	}
	if err := leases.Close(); err != nil {
		return fmt.Errorf("xdb: close: %w", err)
	}
	return nil
}
