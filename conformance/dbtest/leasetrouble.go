package dbtest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/major/xdb"
)

func testLeaseTransaction(tb testing.TB, s *suite) {
	db := s.openLeases(tb)
	b := backend(tb, db)
	if s.differs(DiffNoServer) {
		tb.Skip("the database allows one writer at a time")
	}
	errRollback := errors.New("rollback")
	r := newRequest("tx")
	err := db.Transaction(func(tx *gorm.DB) error {
		leases, err := xdb.Leases(tx)
		if err != nil {
			return err
		}
		s.mustAcquire(tb, leases.Backend(), r)
		// The deadline reports a database that waits for the transaction.
		ctx, cancel := context.WithTimeout(s.ctx, recoversWithin)
		defer cancel()
		if g, err := b.Acquire(ctx, newRequest("tx")); err != nil || g.OK {
			tb.Errorf("second acquire = %+v, %v during the transaction; want it held", g, err)
		}
		return errRollback
	})
	if !errors.Is(err, errRollback) {
		tb.Fatalf("transaction: %v", err)
	}
	if g, err := b.Acquire(s.ctx, newRequest("tx")); err != nil || g.OK {
		tb.Errorf("second acquire = %+v, %v after the rollback; want it held", g, err)
	}
}

func testLeaseDeadline(tb testing.TB, s *suite) {
	db := s.openLeases(tb, func(o *xdb.Options) { o.MaxOpenConns = 1 })
	b := backend(tb, db)
	r := newRequest("one")
	h := s.mustAcquire(tb, b, r)
	tx := db.Begin() // uses the only connection
	check(tb, tx.Error, "begin")
	for what, call := range map[string]func(ctx context.Context) error{
		"acquire": func(ctx context.Context) error {
			_, err := b.Acquire(ctx, newRequest("other"))
			return err
		},
		"renew":   func(ctx context.Context) error { _, err := b.Renew(ctx, h); return err },
		"release": func(ctx context.Context) error { _, err := b.Release(ctx, h); return err },
	} {
		wantPrompt(tb, what, context.DeadlineExceeded, func() error {
			ctx, cancel := context.WithTimeout(s.ctx, cancelAfter)
			defer cancel()
			return call(ctx)
		})
	}
	check(tb, tx.Rollback().Error, "roll back")
	if ok, err := b.Renew(s.ctx, h); err != nil || !ok {
		tb.Errorf("renew = %t, %v after the deadline", ok, err)
	}
}

// testLeaseOutage stops the server for longer than the TTL. The holder must detect the
// loss before the lease expires.
func testLeaseOutage(tb testing.TB, s *suite) {
	s.needServer(tb)
	outage := s.Outage(tb)
	db := s.openLeases(tb, func(o *xdb.Options) { o.Parts = outage.Config })
	leases, err := xdb.Leases(db)
	check(tb, err, "leases")
	const ttl = 3 * time.Second
	lease, err := leases.Lease(s.ctx, "outage", ttl)
	check(tb, err, "lease")
	var stopped atomic.Bool
	defer func() {
		if stopped.Load() {
			check(tb, outage.Start(), "start the server")
		}
	}()
	stopped.Store(true)
	stoppedAt := time.Now()
	check(tb, outage.Stop(), "stop the server")
	select {
	case <-lease.Done():
		elapsed := time.Since(stoppedAt)
		if elapsed > ttl || !errors.Is(lease.Err(), xlease.ErrLost) {
			tb.Errorf("after %s: %v, want %v within %s", elapsed, lease.Err(), xlease.ErrLost, ttl)
		}
	case <-time.After(2 * ttl):
		tb.Error("the lease is still valid without a server")
	}
	check(tb, outage.Start(), "start the server")
	stopped.Store(false)
	ctx, cancel := context.WithTimeout(s.ctx, ttl+recoversWithin)
	defer cancel()
	for {
		next, err := leases.Lease(ctx, "outage", ttl, xlease.WithWait())
		if err == nil {
			check(tb, next.Release(s.ctx), "release")
			return
		}
		if ctx.Err() != nil {
			tb.Fatalf("lease after the outage: %v", err)
		}
		pause(100 * time.Millisecond)
	}
}
