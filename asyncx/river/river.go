// Package river keeps durable jobs with River on PostgreSQL.
//
//	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(river.Open())}}
//
// Jobs are rows of River's table river_job, in its queue "plinth", so that River's own
// command line and web interface show them. They are stored in the application's
// transaction. A worker takes them with River's client, on connections of its own.
//
// River gives a job to another worker after a fixed time, whoever holds it. This package
// does not leave that to River: a worker says every few seconds that it is alive, and
// what it does not say so of is given to others: see WithTakeOver. Every time is one of
// the server's clock.
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

// Queue is the name of River's queue that holds the jobs. River's clients that work on
// other queues leave them alone.
const Queue = "plinth"

// The bounds of WithTakeOver.
const (
	defaultTakeOver = 30 * time.Second
	minTakeOver     = 3 * time.Second
	maxTakeOver     = time.Hour
)

// maxConns is how many connections a worker opens at most, beside those of the database's
// pool.
const maxConns = 8

// ErrNotPostgres reports a database that River does not work on.
var ErrNotPostgres = errors.New("the database is not PostgreSQL")

// ErrTaken is the cause of an attempt's context that ended because the job is no longer
// this worker's: another one may have it, or people have cancelled it in River. What
// becomes of the attempt does not count then.
var ErrTaken = errors.New("river: the job is no longer this worker's")

// Option configures the engine.
type Option func(*config)

type config struct {
	takeOver  time.Duration
	retention time.Duration
	schema    string
	asIs      bool // the tables are somebody else's business
	db        *gorm.DB
	faults    []error
}

// WithTakeOver says how long after the death of its worker a job is given to another one,
// at most: 3 s to 1 h. The default is 30 s. A worker writes to the database six times in
// that time while it has jobs. Give all replicas the same.
func WithTakeOver(d time.Duration) Option {
	return func(c *config) {
		if d < minTakeOver || d > maxTakeOver {
			c.fault("WithTakeOver: %s is not in %s to %s", d, minTakeOver, maxTakeOver)
		}
		c.takeOver = d
	}
}

// WithRetention says how long jobs that are done are kept, for people to look at, at
// least a second. The default is 24 h. Dead jobs are kept until they are replayed or
// deleted.
func WithRetention(d time.Duration) Option {
	return func(c *config) {
		if d < time.Second {
			c.fault("WithRetention: %s is less than a second", d)
		}
		c.retention = d
	}
}

// WithSchema names the schema of River's tables: up to 46 letters, digits and
// underscores. It is created where it is missing. The default is the first one in the
// search path of the database's user.
func WithSchema(name string) Option {
	return func(c *config) {
		if !validSchema.MatchString(name) {
			c.fault("WithSchema: %q is not 1 to 46 letters, digits and underscores, a letter first",
				name)
		}
		c.schema = name
	}
}

// WithoutMigration leaves River's tables to others, such as `river migrate-up`. Open
// fails where they are missing or old.
func WithoutMigration() Option { return func(c *config) { c.asIs = true } }

// WithDB gives the database, instead of the application's. xdb.Open has opened it, and
// the caller closes it. A job is part of a transaction of this database only; one that is
// stored within a transaction of another database is refused.
func WithDB(db *gorm.DB) Option {
	return func(c *config) {
		if db == nil {
			c.fault("WithDB: the database is nil")
		}
		c.db = db
	}
}

// fault notes a problem of the options.
func (c *config) fault(format string, args ...any) {
	c.faults = append(c.faults,
		fmt.Errorf("river: %w: %s", job.ErrOption, fmt.Sprintf(format, args...)))
}

// Open returns what opens the engine on the application's PostgreSQL database, for
// job.Init. It brings River's tables up to date, one replica at a time, and needs the
// right to do so only where they are not. The error is ErrNotPostgres where the database
// is another one.
func Open(options ...Option) job.Opener {
	return func(ctx context.Context) (driver.Engine, error) {
		c := config{takeOver: defaultTakeOver, retention: 24 * time.Hour}
		for _, option := range options {
			if option != nil {
				option(&c)
			}
		}
		if err := errors.Join(c.faults...); err != nil {
			return nil, err
		}
		ctx = transaction.Without(xctx.Unpooled(ctx))
		var err error
		if c.db, err = jobdb.Find(ctx, c.db); err != nil {
			return nil, fmt.Errorf("river: %w", err)
		}
		if name := c.db.Name(); name != "postgres" {
			return nil, fmt.Errorf("river: %w but %s: use outbox.Open, which works there",
				ErrNotPostgres, name)
		}
		return newEngine(ctx, c)
	}
}

// engine implements driver.Engine.
type engine struct {
	config
	db     *gorm.DB // silent: what fails is returned
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
		Interface: 1, Name: "river on postgres",
		Transactional: true, TakeoverTimeout: e.takeOver,
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
		return fmt.Errorf("river: %w", driver.ErrClosed)
	}
	return nil
}

// handle returns the transaction that ctx is in, or else the database.
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
