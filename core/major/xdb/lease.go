package xdb

import (
	"context"
	"fmt"
	"io"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/plinthgo/plinth/core/common/xlease"
	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
)

// Leases returns the leases that the database stores in its table plinth_leases: the same ones at each
// call, until Close, which releases them. It sends nothing: the first lease, or Leases.Prepare, creates the
// table if it is missing, and only then needs the right to do so.
//
// Their statements go to the primary, each by itself: never in a transaction that db may be, nor in one that is open for
// longer than its statement. The error is xlease.ErrUnsupported where the driver has no clock for them, or where db was not
// opened by a driver's name.
func Leases(db *gorm.DB) (*xlease.Leases, error) {
	k, err := leaseKeeperOf(db)
	if err != nil {
		return nil, err
	}
	return k.leases, nil
}

// LeaseBackend returns what keeps the leases of Leases, for package leasetest and for what is built on leases.
func LeaseBackend(db *gorm.DB) (leasedriver.Backend, error) {
	k, err := leaseKeeperOf(db)
	if err != nil {
		return nil, err
	}
	return k.backend, nil
}

const leasesName = "plinth:leases"

// leaseKeeper is a gorm plugin that keeps the leases of a database from the first call of Leases until Close.
type leaseKeeper struct {
	info *dbconn.Info
	db   *gorm.DB           // the one that was opened, never a transaction
	life context.Context    //nolint:containedctx // ends with Close
	end  context.CancelFunc // of life

	turn    chan struct{} // full while somebody uses what follows
	closed  bool
	backend *leaseBackend // nil: nobody has asked yet
	leases  *xlease.Leases
}

// newLeaseKeeper returns a keeper whose lines go to the log of ctx.
func newLeaseKeeper(ctx context.Context, info *dbconn.Info) *leaseKeeper {
	k := &leaseKeeper{info: info, turn: make(chan struct{}, 1)}
	k.life, k.end = context.WithCancel(context.WithoutCancel(ctx))
	return k
}

// Name implements gorm.Plugin.
func (*leaseKeeper) Name() string { return leasesName }

// Initialize implements gorm.Plugin.
func (k *leaseKeeper) Initialize(db *gorm.DB) error {
	k.db = db
	return nil
}

// leaseKeeperOf returns the keeper of db, ready for use.
func leaseKeeperOf(db *gorm.DB) (*leaseKeeper, error) {
	k, ok := db.Plugins[leasesName].(*leaseKeeper)
	if !ok {
		return nil, fmt.Errorf("xdb: leases: %w: this %s database was not opened by xdb.Open", xlease.ErrUnsupported, db.Name())
	}
	ctx, cancel := context.WithCancelCause(xctx.Unpooled(db.Statement.Context))
	defer cancel(nil)
	defer context.AfterFunc(k.life, func() { cancel(xlease.ErrClosed) })()
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("xdb: leases: %w", context.Cause(ctx))
	}
	return k, k.ready()
}

// ready sets up what is not there yet. Nothing is kept of a failure, so that the next call tries again.
func (k *leaseKeeper) ready() error {
	switch {
	case k.closed:
		return fmt.Errorf("xdb: leases: %w", xlease.ErrClosed)
	case k.backend != nil:
		return nil
	}
	if k.info.Driver == nil {
		return fmt.Errorf("xdb: leases: %w: the database was opened by a Dialector, not by the name of a driver", xlease.ErrUnsupported)
	}
	clock, ok := k.info.Driver.(driver.Clock)
	if !ok {
		return fmt.Errorf("xdb: leases: %w: the driver %s has no clock for them", xlease.ErrUnsupported, k.info.Name)
	}
	b, err := newLeaseBackend(k, clock)
	if err != nil {
		return err
	}
	k.backend, k.leases = b, xlease.New(b)
	return nil
}

// silent returns a handle for the statements of leases. A renewal every few seconds is no news, and what fails is returned.
func (k *leaseKeeper) silent() *gorm.DB {
	return k.db.Session(&gorm.Session{NewDB: true, SkipDefaultTransaction: true, Logger: logger.Discard})
}

// close releases all leases, and ends what runs in the background. Whoever calls it again does nothing.
func (k *leaseKeeper) close() error {
	k.end()
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	if k.closed || k.backend == nil {
		k.closed = true
		return nil
	}
	k.closed = true
	var leases io.Closer = k.leases // which bounds its time by itself
	err := leases.Close()
	k.backend.sweeper.close()
	if err != nil {
		return fmt.Errorf("xdb: close: %w", err)
	}
	return nil
}
