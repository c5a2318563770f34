// Package outbox stores durable jobs in a table of the application's database.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
//
// It supports every xdb database whose driver has a clock: SQLite, PostgreSQL, MySQL,
// MariaDB, SQL Server and Oracle. Open creates the table plinth_jobs, with the table
// prefix of the database.
//
// A worker claims jobs with a lease and renews it while they run. If the worker crashes
// or cannot reach the database, the lease expires and another worker runs the job: see
// WithTakeoverTimeout. All times are measured by the database's clock, so the clocks of
// the replicas may differ.
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

// Limits of WithTakeoverTimeout.
const (
	defaultTakeOver = 30 * time.Second
	minTakeOver     = 200 * time.Millisecond
	maxTakeOver     = time.Hour
)

// ErrLeaseLost is the cause of a canceled attempt whose lease was not renewed in time:
// another worker may have the job. The outcome of the attempt is ignored.
var ErrLeaseLost = errors.New("outbox: lease lost")

// Option configures the engine.
type Option func(*config)

type config struct {
	takeOver time.Duration
	db       *gorm.DB
	errs     []error
}

// WithTakeoverTimeout sets the maximum time between the crash of a worker and the
// takeover of its jobs: 200 ms to 1 h. The default is 30 s. A worker with jobs writes to
// the database about three times in this period. Use the same value for all replicas.
func WithTakeoverTimeout(d time.Duration) Option {
	return func(c *config) {
		if d < minTakeOver || d > maxTakeOver {
			c.errs = append(c.errs,
				fmt.Errorf("outbox: %w: WithTakeoverTimeout: %s is not between %s and %s",
					job.ErrOption, d, minTakeOver, maxTakeOver))
		}
		c.takeOver = d
	}
}

// WithDB sets the database instead of the application's. The caller opens it with
// xdb.Open and closes it. Jobs join transactions of this database only; Enqueue in a
// transaction of another database fails.
func WithDB(db *gorm.DB) Option {
	return func(c *config) {
		if db == nil {
			c.errs = append(c.errs,
				fmt.Errorf("outbox: %w: WithDB: the database is nil", job.ErrOption))
		}
		c.db = db
	}
}

// Open returns an opener for job.Init. The opener uses the application's database. If the
// table plinth_jobs does not exist, the opener creates it; only then the database user
// needs the privilege to create tables. The opener returns systable.ErrUnsupported if the
// database has no clock.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{takeOver: defaultTakeOver}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.errs...); err != nil {
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
	db       *gorm.DB // without a logger
	sql      statements
	takeOver time.Duration
	workers  wake.Workers
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

// open returns an error after Close.
func (e *engine) open() error {
	if e.closed.Load() {
		return fmt.Errorf("outbox: %w", driver.ErrClosed)
	}
	return nil
}
