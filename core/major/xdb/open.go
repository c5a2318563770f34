package xdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/internal/retry"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/internal/replica"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

const (
	// attemptTimeout limits one connection attempt, so that a host that drops packets is
	// retried.
	attemptTimeout = 5 * time.Second

	// maxIdentifier is the longest identifier that no database truncates (PostgreSQL: 63
	// bytes), so that indexes and constraints have the same names on each.
	maxIdentifier = 63
)

var errNoResponse = errors.New("no response within " + attemptTimeout.String())

// Open resolves o, connects, and sets up the database: see Resolve, Database.Connect and
// Database.Setup. If one of these fails, Open closes the pool.
func Open(ctx context.Context, o Options) (*gorm.DB, error) {
	return cmp.Or(o.registry, &defaultRegistry).Open(ctx, o)
}

// Open is the function Open with the drivers of r.
func (r *Registry) Open(ctx context.Context, o Options) (*gorm.DB, error) {
	d, err := r.Resolve(o)
	if err != nil {
		return nil, err
	}
	db, err := d.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.Setup(ctx, db); err != nil {
		return nil, errors.Join(err, Close(db))
	}
	return db, nil
}

// Connect opens the pool and pings the server. Call Setup next, which runs the
// migrations. The caller closes the database with Close.
//
// If the server is unavailable, Connect retries with growing intervals until
// Options.ConnectTimeout and logs each attempt. It returns immediately if ctx is done, or
// for an error that a retry cannot fix, such as a wrong password or an unknown database.
//
// Times that gorm sets are in UTC and truncated to microseconds, the precision of all
// databases.
func (d *Database) Connect(ctx context.Context) (*gorm.DB, error) {
	log, name, at := d.info.Log, slog.String("driver", d.info.Name), slog.String("at", d.info.Where)
	for _, line := range d.advice {
		log.Warn(ctx, line, name)
	}
	db, err := retry.Connect(ctx, d.options.ConnectTimeout, func(attempt int) (*gorm.DB, error) {
		db, err := d.attempt(ctx, d.options)
		if err != nil {
			return nil, d.info.Redact(err)
		}
		log.Info(ctx, "database connected", name, at, slog.Int("attempt", attempt))
		return db, nil
	}, d.info.Transient, func(attempt int, pause time.Duration, err error) {
		log.Warn(ctx, "database not reachable yet", name, at,
			slog.Int("attempt", attempt), slog.Duration("next", pause),
			slog.String("error", err.Error()))
	})
	if err != nil {
		return nil, fmt.Errorf("xdb: open %s%s: %w", d.info, d.info.Setting(), err)
	}
	if err := d.finish(ctx, db); err != nil {
		return nil, errors.Join(err, Close(db))
	}
	return db, nil
}

// attempt connects once. It returns when ctx is done. gorm's dialectors initialize
// without a context, so attempt opens the connection in a separate goroutine, which it
// abandons if ctx ends first.
func (d *Database) attempt(ctx context.Context, o Options) (*gorm.DB, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errNoResponse)
	defer cancel()
	type outcome struct {
		db  *gorm.DB
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		db, err := d.open(ctx, o)
		done <- outcome{db, err}
	}()
	select {
	case r := <-done:
		return r.db, r.err
	case <-ctx.Done():
		go func() { _ = Close((<-done).db) }()
		cause := context.Cause(ctx)
		return nil, driver.Translate(driver.Connection, cause, cause.Error())
	}
}

// open opens the pool and pings the server.
func (d *Database) open(ctx context.Context, o Options) (*gorm.DB, error) {
	config := &gorm.Config{
		TranslateError:         true,
		DisableAutomaticPing:   true,
		SkipDefaultTransaction: o.SkipDefaultTransaction,
		NamingStrategy: schema.NamingStrategy{
			TablePrefix: o.TablePrefix, SingularTable: o.SingularTables,
			IdentifierMaxLength: maxIdentifier,
		},
		NowFunc: func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
	}
	if o.Gorm != nil {
		o.Gorm(config)
	}
	gormLogger := config.Logger
	config.Logger = logger.Discard // errors are returned, and must be redacted first
	db, err := gorm.Open(d.dialector(), config)
	if err != nil {
		return nil, err
	}
	if db.Logger = gormLogger; gormLogger == nil {
		db.Logger = &sqlLogger{log: d.info.Log, slow: max(o.SlowThreshold, 0), dialect: db.Name()}
	}
	if err := setPool(ctx, db, o); err != nil {
		return nil, errors.Join(err, Close(db))
	}
	return db, nil
}

// setPool configures the pool and pings the server.
func setPool(ctx context.Context, db *gorm.DB, o Options) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(max(o.MaxOpenConns, 0))
	pool.SetMaxIdleConns(max(o.MaxIdleConns, 0))
	pool.SetConnMaxLifetime(max(o.ConnMaxLifetime, 0))
	pool.SetConnMaxIdleTime(max(o.ConnMaxIdleTime, 0))
	if o.AcquireTimeout > 0 {
		boundPool(db, pool, o.AcquireTimeout)
	}
	return pool.PingContext(ctx)
}

// probe opens one connection, pings the server and closes the connection.
func (d *Database) probe(ctx context.Context) error {
	db, err := d.attempt(ctx, Options{MaxOpenConns: 1, MaxIdleConns: 1})
	if err != nil {
		return fmt.Errorf("xdb: ping: %w", d.info.Redact(err))
	}
	return dbconn.Close(db)
}

// finish registers the plugins of db and starts the checks of the replicas.
func (d *Database) finish(ctx context.Context, db *gorm.DB) error {
	gormLogger := db.Logger
	db.Logger = logger.Discard // gorm logs each callback that a plugin replaces
	defer func() { db.Logger = gormLogger }()
	plugins := []gorm.Plugin{
		contextErrors{},
		xmodels.Plugin{Node: func() *xsnowflake.Node {
			node, _ := ctx.Value(xctx.SnowflakeNodeKey).(*xsnowflake.Node)
			return node
		}},
		d.info.Plugin(), &leaseKeeper{}, // leaseKeeper requires the Info
	}
	router := d.newRouter(db)
	if len(d.replicas) > 0 {
		plugins = append(plugins, router)
	}
	for _, plugin := range plugins {
		if err := db.Use(plugin); err != nil {
			return fmt.Errorf("xdb: plugin %s: %w", plugin.Name(), err)
		}
	}
	return router.Start(ctx)
}

// newRouter returns the gorm plugin that sends the reads of db to the replicas.
func (d *Database) newRouter(db *gorm.DB) *replica.Router {
	var all []*replica.Replica
	for _, r := range d.replicas {
		all = append(all, &replica.Replica{
			Info: r.info,
			Connect: func(ctx context.Context) (*gorm.DB, error) {
				replicaDB, err := r.attempt(ctx, r.options)
				if err == nil && db.PrepareStmt {
					replicaDB.ConnPool = gorm.NewPreparedStmtDB(replicaDB.ConnPool,
						db.PrepareStmtMaxSize, db.PrepareStmtTTL)
				}
				return replicaDB, err
			},
		})
	}
	return replica.New(all)
}

// Setup applies AutoMigrate and then Migrations of the options to a database that Connect
// opened, and runs the Prepare functions.
func (d *Database) Setup(ctx context.Context, db *gorm.DB) error {
	ctx = WithPrimary(ctx)
	o := d.options
	if len(o.AutoMigrate) > 0 {
		if err := migrate.Models(ctx, db, o.AutoMigrate...); err != nil {
			return err
		}
	}
	if len(o.Migrations) > 0 {
		if err := d.migrations.Apply(ctx, db); err != nil {
			return err
		}
	}
	for i, prepare := range o.Prepare {
		if err := prepare(ctx, db.WithContext(ctx)); err != nil {
			return fmt.Errorf("xdb: prepare function %d: %w", i+1, err)
		}
	}
	return nil
}
