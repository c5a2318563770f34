// Package river stores durable jobs with River on PostgreSQL.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(river.Open())}}
//
// Jobs are rows of River's table river_job in the queue "plinth", so River's command line
// and web interface show them. Enqueue joins the application's transaction. A worker runs
// jobs with River's client, on its own connections.
//
// River itself reassigns a job after a fixed time, even if its worker is running. With
// this package, a worker renews its claims every few seconds instead, and other workers
// take over only jobs whose claims are not renewed; see WithTakeoverTimeout. All times
// are measured by the server's clock.
package river

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/asyncx/internal/jobdb"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

// Queue is the name of the River queue with the jobs. River clients of other queues
// ignore them.
const Queue = "plinth"

// Limits of WithTakeoverTimeout.
const (
	defaultTakeOver = 30 * time.Second
	minTakeOver     = 3 * time.Second
	maxTakeOver     = time.Hour
)

// maxConns is the maximum number of connections that a worker opens in addition to the
// database's pool.
const maxConns = 8

// ErrNotPostgres reports a database that River does not support.
var ErrNotPostgres = errors.New("the database is not PostgreSQL")

// ErrLeaseLost is the cause of a canceled attempt whose job was taken over by another
// worker or canceled in River. The outcome of the attempt is ignored.
var ErrLeaseLost = errors.New("river: job taken over or canceled")

// Option configures the engine.
type Option func(*config)

type config struct {
	takeOver    time.Duration
	retention   time.Duration
	schema      string
	noMigration bool
	db          *gorm.DB
	errs        []error
}

// WithTakeoverTimeout sets the maximum time between the crash of a worker and the
// takeover of its jobs: 3 s to 1 h. The default is 30 s. A worker with jobs writes to the
// database six times in this period. Use the same value for all replicas.
func WithTakeoverTimeout(d time.Duration) Option {
	return func(c *config) {
		if d < minTakeOver || d > maxTakeOver {
			c.addError("WithTakeoverTimeout: %s is not between %s and %s", d, minTakeOver, maxTakeOver)
		}
		c.takeOver = d
	}
}

// WithRetention sets how long completed jobs are kept, at least 1 s. The default is 24 h.
// Dead jobs are kept until they are replayed or deleted.
func WithRetention(d time.Duration) Option {
	return func(c *config) {
		if d < time.Second {
			c.addError("WithRetention: %s is less than 1s", d)
		}
		c.retention = d
	}
}

// WithSchema sets the schema of River's tables: 1 to 46 letters, digits and underscores,
// starting with a letter or an underscore. Open creates the schema if it does not exist.
// The default is the first schema of the user's search path.
func WithSchema(name string) Option {
	return func(c *config) {
		if !validSchema.MatchString(name) {
			c.addError("WithSchema: %q is not 1 to 46 letters, digits and underscores, "+
				"a letter first", name)
		}
		c.schema = name
	}
}

// WithoutMigration disables the migration of River's tables, for example if `river
// migrate-up` manages them. Open fails if they are missing or outdated.
func WithoutMigration() Option { return func(c *config) { c.noMigration = true } }

// WithDB sets the database instead of the application's. The caller opens it with
// xdb.Open and closes it. Jobs join transactions of this database only; Enqueue in a
// transaction of another database fails.
func WithDB(db *gorm.DB) Option {
	return func(c *config) {
		if db == nil {
			c.addError("WithDB: the database is nil")
		}
		c.db = db
	}
}

// addError records an invalid option.
func (c *config) addError(format string, args ...any) {
	c.errs = append(c.errs,
		fmt.Errorf("river: %w: %s", job.ErrOption, fmt.Sprintf(format, args...)))
}

// Open returns an opener for job.Init. The opener uses the application's PostgreSQL
// database. It migrates River's tables if necessary, one replica at a time; only then the
// database user needs the privilege to create tables. It returns ErrNotPostgres for
// another database.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{takeOver: defaultTakeOver, retention: 24 * time.Hour}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.errs...); err != nil {
			return nil, err
		}
		ctx = transaction.Without(xctx.Unpooled(ctx))
		var err error
		if c.db, err = jobdb.Find(ctx, c.db); err != nil {
			return nil, fmt.Errorf("river: %w", err)
		}
		if name := c.db.Name(); name != "postgres" {
			return nil, fmt.Errorf("river: %w but %s: use outbox.Open", ErrNotPostgres, name)
		}
		return newEngine(ctx, c)
	}
}

// engine implements driver.Engine.
type engine struct {
	config
	db     *gorm.DB // without a logger
	sql    statements
	closed atomic.Bool
}

func newEngine(ctx context.Context, c config) (*engine, error) {
	e := &engine{config: c, db: jobdb.Silent(c.db), sql: newStatements(c.schema)}
	return e, e.setUp(ctx)
}

// Capabilities implements driver.Engine.
func (e *engine) Capabilities() driver.Capabilities {
	return driver.Capabilities{
		Interface: 1, Name: "river on postgres", Transactional: true, TakeoverTimeout: e.takeOver,
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
		return fmt.Errorf("river: %w", driver.ErrClosed)
	}
	return nil
}

// handle returns the transaction of ctx, or else the database.
func (e *engine) handle(ctx context.Context) (*gorm.DB, error) {
	if err := e.open(); err != nil {
		return nil, err
	}
	db, _, err := jobdb.Handle(ctx, e.db)
	if err != nil {
		return nil, fmt.Errorf("river: %w", err)
	}
	return db, nil
}
