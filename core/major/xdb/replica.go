package xdb

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

const (
	// checkPause is the time between two checks of a replica, and so how long one that is back waits for its work.
	checkPause = 5 * time.Second
	// checkTimeout bounds one check: a replica that takes longer is not in use.
	checkTimeout = 3 * time.Second
)

// The states of a replica. The zero value is neither, so that the first check is always worth a line.
const (
	stateUp int32 = iota + 1
	stateDown
)

// replica is a copy of the database that answers reads.
type replica struct {
	target  *target
	options Options
	prepare func(gorm.ConnPool) gorm.ConnPool // nil: statements are not prepared
	pools   atomic.Pointer[replicaPools]      // nil: it has never answered
	state   atomic.Int32
}

// replicaPools are the connections of a replica. probe has one of its own, so that a pool whose connections are all at work
// is not taken for a server that does not answer, nor the other way round.
type replicaPools struct {
	reads     gorm.ConnPool
	db, probe *gorm.DB
}

// pool returns where reads go, or nil where the replica is down.
func (r *replica) pool() gorm.ConnPool {
	if r.state.Load() != stateUp {
		return nil
	}
	return r.pools.Load().reads
}

// has reports whether pool is that of the replica.
func (r *replica) has(pool gorm.ConnPool) bool {
	p := r.pools.Load()
	return p != nil && p.reads == pool
}

// watch checks the replica until ctx ends.
func (r *replica) watch(ctx context.Context) {
	ticker := time.NewTicker(checkPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = r.check(ctx)
		}
	}
}

// check asks the replica for an answer, and notes whether there was one. It returns an error that waiting cannot mend, such
// as a wrong password or a DSN that does not parse, and the end of ctx.
func (r *replica) check(ctx context.Context) error {
	err := r.ask(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		clean := r.down(ctx, err)
		if transient(err, r.target.kindOf(err)) {
			return nil
		}
		return clean
	}
	if r.state.Swap(stateUp) != stateUp {
		r.options.Log.Info(ctx, "database replica is up", slog.String("driver", r.target.name), slog.String("at", r.target.where))
	}
	return nil
}

// ask opens the pools where there are none, else it pings.
func (r *replica) ask(ctx context.Context) error {
	if p := r.pools.Load(); p != nil {
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		return ping(ctx, p.probe)
	}
	many := r.options
	many.Gorm = func(c *gorm.Config) {
		if r.options.Gorm != nil {
			r.options.Gorm(c)
		}
		c.PrepareStmt = false // gorm starts a goroutine for it that never ends, at every try
	}
	one := many
	one.MaxOpenConns, one.MaxIdleConns = 1, 1
	probe, err := r.target.attempt(ctx, one)
	if err != nil {
		return err
	}
	db, err := r.target.attempt(ctx, many)
	if err != nil {
		return errors.Join(err, closePool(probe))
	}
	p := &replicaPools{reads: db.ConnPool, db: db, probe: probe}
	if r.prepare != nil {
		p.reads = r.prepare(db.ConnPool)
	}
	r.pools.Store(p)
	return nil
}

// down takes the replica out of use until a check succeeds, and returns err without a secret.
func (r *replica) down(ctx context.Context, err error) error {
	err = r.target.secrets.scrub(err, r.target.kindOf(err))
	if r.state.Swap(stateDown) != stateDown {
		r.options.Log.Warn(ctx, "database replica is down, its reads go elsewhere", slog.String("driver", r.target.name),
			slog.String("at", r.target.where), slog.String("error", err.Error()))
	}
	return err
}

// close closes the pools. Nothing checks the replica any more.
func (r *replica) close() error {
	p := r.pools.Load()
	if p == nil {
		return nil
	}
	if err := errors.Join(closePool(p.db), closePool(p.probe)); err != nil {
		return fmt.Errorf("xdb: replica %s: %w", r.target.label(), err)
	}
	return nil
}

// lost reports whether err means that a server cannot be used at all, rather than that it has refused a statement.
func lost(err error, kind driver.ErrorKind) bool {
	switch kind {
	case driver.Connection, driver.TooManyConnections, driver.Authentication, driver.UnknownDatabase:
		return true
	case driver.Unknown:
		return errors.Is(err, sqldriver.ErrBadConn) || transient(err, kind)
	default:
		return false
	}
}
