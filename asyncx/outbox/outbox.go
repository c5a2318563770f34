// Package outbox keeps durable jobs in a table of the application's own database.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
//
// It works on every database of xdb whose driver has a clock: SQLite, PostgreSQL, MySQL
// and MariaDB, SQL Server, Oracle. The table is plinth_jobs, behind the prefix of the
// database, and is created where it is missing.
//
// A worker takes jobs under a lease that it renews while they run. Where it dies, or
// loses the database for longer than the lease, others take them over: see WithTakeOver.
// Every time is one of the database's clock, so that those of the replicas do not matter.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/internal/jobdb"
	"github.com/plinthgo/plinth/asyncx/internal/wake"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/systable"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// The bounds of WithTakeOver.
const (
	defaultTakeOver = 30 * time.Second
	minTakeOver     = 200 * time.Millisecond
	maxTakeOver     = time.Hour
)

// ErrTaken is the cause of an attempt's context that ended because the job may be another
// worker's by now: the lease could not be renewed in time. What becomes of the attempt
// does not count then.
var ErrTaken = errors.New("outbox: the job may be another worker's")

// Option configures the engine.
type Option func(*config)

type config struct {
	takeOver time.Duration
	db       *gorm.DB
	faults   []error
}

// WithTakeOver says how long after the death of its worker a job is given to another one,
// at most: 200 ms to 1 h. The default is 30 s. A worker writes to the database about
// three times in that time while it has jobs. Give all replicas the same.
func WithTakeOver(d time.Duration) Option {
	return func(c *config) {
		if d < minTakeOver || d > maxTakeOver {
			c.faults = append(c.faults,
				fmt.Errorf("outbox: %w: WithTakeOver: %s is not in %s to %s",
					job.ErrOption, d, minTakeOver, maxTakeOver))
		}
		c.takeOver = d
	}
}

// WithDB gives the database, instead of the application's. xdb.Open has opened it, and
// the caller closes it. A job is part of a transaction of this database only; one that is
// stored within a transaction of another database is refused.
func WithDB(db *gorm.DB) Option {
	return func(c *config) {
		if db == nil {
			c.faults = append(c.faults,
				fmt.Errorf("outbox: %w: WithDB: the database is nil", job.ErrOption))
		}
		c.db = db
	}
}

// Open returns what opens the engine on the application's database, for job.Init. It
// creates the table plinth_jobs where that is missing, and needs the right to do so only
// then. The error is systable.ErrUnsupported where the database has no clock.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{takeOver: defaultTakeOver}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.faults...); err != nil {
			return nil, err
		}
		ctx = transaction.Without(xctx.Unpooled(ctx))
		db, err := jobdb.Find(ctx, c.db)
		if err != nil {
			return nil, fmt.Errorf("outbox: %w", err)
		}
		return newEngine(ctx, db, c.takeOver)
	}
}

// engine implements driver.Engine.
type engine struct {
	db       *gorm.DB // silent
	sql      statements
	takeOver time.Duration
	wakes    wake.Workers
	closed   atomic.Bool
}

func newEngine(ctx context.Context, db *gorm.DB, takeOver time.Duration) (*engine, error) {
	clock, err := systable.Clock(db)
	if err != nil {
		return nil, fmt.Errorf("outbox: %w", err)
	}
	e := &engine{db: jobdb.Silent(db), takeOver: takeOver}
	if e.sql, err = newStatements(e.db, clock); err != nil {
		return nil, err
	}
	return e, e.setUp(xdb.WithPrimary(ctx))
}

// Capabilities implements driver.Engine.
func (e *engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{
		Interface: 1, Name: "outbox on " + e.db.Name(), Transactional: true,
		TakeoverTimeout: e.takeOver,
	}
}

// Ping implements driver.Engine.
func (e *engine) Ping(ctx context.Context) error {
	if err := e.open(); err != nil {
		return err
	}
	return xdb.CheckHealth(ctx, e.db)
}

// Close implements driver.Engine. The database stays open.
func (e *engine) Close() error {
	e.closed.Store(true)
	return nil
}

// open returns the error of a call after Close.
func (e *engine) open() error {
	if e.closed.Load() {
		return fmt.Errorf("outbox: %w", driver.ErrClosed)
	}
	return nil
}
