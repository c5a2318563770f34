package xdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

const (
	// attemptTimeout bounds one attempt to connect: a host that swallows packets gets more than one.
	attemptTimeout = 5 * time.Second

	firstWait = 250 * time.Millisecond
	longWait  = 5 * time.Second

	// lockPause is the time between two tries for the lock of a migration; a driver waits by itself within each.
	lockPause = time.Second

	// maxIdentifier is the longest name that all databases keep whole (PostgreSQL: 63 bytes), so that the
	// names of indexes and constraints are the same on each.
	maxIdentifier = 63
)

var errNoAnswer = errors.New("no answer within " + attemptTimeout.String())

// Open opens the database of o through the default registry. See Registry.Open.
func Open(ctx context.Context, o Options) (*gorm.DB, error) { return defaultRegistry.Open(ctx, o) }

// Open connects, sets up the pool, migrates (first AutoMigrate, then Migrations) and prepares; where one of these fails,
// nothing stays open.
//
// A server that is not there yet is tried again, at growing intervals and with a line in the log for each
// attempt, until Options.ConnectTimeout. An error that waiting cannot mend, such as a wrong password or an
// unknown database, and the end of ctx end Open at once.
//
// Times that gorm sets are in UTC and whole microseconds, which is what all databases keep.
func (r *Registry) Open(ctx context.Context, o Options) (*gorm.DB, error) {
	o = o.withDefaults()
	t, err := r.resolve(o)
	if err != nil {
		return nil, err
	}
	for _, line := range t.advice {
		o.Log.Warn(ctx, line, slog.String("driver", t.name))
	}
	db, err := t.connect(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("xdb: open %s%s: %w", t.label(), t.setting(), err)
	}
	if err := t.finish(ctx, db, o); err != nil {
		return nil, errors.Join(err, Close(db))
	}
	return db, nil
}

func (t *target) label() string {
	if t.where == "" {
		return t.name
	}
	return t.name + " " + t.where
}

// connect opens the database, however often that takes.
func (t *target) connect(ctx context.Context, o Options) (*gorm.DB, error) {
	start := time.Now()
	for attempt, wait := 1, firstWait; ; attempt, wait = attempt+1, min(2*wait, longWait) {
		if ctx.Err() != nil { // an attempt would begin beside the caller, who does not wait for it
			return nil, context.Cause(ctx)
		}
		db, err := t.attempt(ctx, o)
		if err == nil {
			o.Log.Info(ctx, "database connected", slog.String("driver", t.name), slog.String("at", t.where),
				slog.Int("attempt", attempt))
			return db, nil
		}
		kind := t.kindOf(err)
		err = t.secrets.scrub(err, kind)
		// Half of the wait is jitter, because replicas start together.
		pause := wait/2 + rand.N(wait/2+1) //nolint:gosec // no secret
		switch {
		case ctx.Err() != nil:
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case !transient(err, kind):
			return nil, err
		case time.Since(start)+pause >= o.ConnectTimeout:
			return nil, fmt.Errorf("gave up at attempt %d: %w", attempt, err)
		}
		o.Log.Warn(ctx, "database not reachable yet", slog.String("driver", t.name), slog.String("at", t.where),
			slog.Int("attempt", attempt), slog.Duration("next", pause), slog.String("error", err.Error()))
		if !sleep(ctx, pause) {
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// sleep waits for d; it returns false where ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attempt tries once. gorm's dialectors take no context for what they ask the server while they are
// initialized, so the attempt runs beside the caller, who leaves it behind when the time is up.
func (t *target) attempt(ctx context.Context, o Options) (*gorm.DB, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, errNoAnswer)
	defer cancel()
	type outcome struct {
		db  *gorm.DB
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		db, err := t.open(ctx, o)
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

// open opens the pool and asks the server for an answer.
func (t *target) open(ctx context.Context, o Options) (*gorm.DB, error) {
	config := &gorm.Config{
		TranslateError:         true,
		DisableAutomaticPing:   true,
		SkipDefaultTransaction: o.SkipDefaultTransaction,
		NamingStrategy:         schema.NamingStrategy{TablePrefix: o.TablePrefix, SingularTable: o.SingularTables, IdentifierMaxLength: maxIdentifier},
		NowFunc:                func() time.Time { return time.Now().UTC().Truncate(time.Microsecond) },
	}
	if b, ok := t.driver.(driver.Batcher); ok {
		config.CreateBatchSize = b.BatchSize()
	}
	if o.Gorm != nil {
		o.Gorm(config)
	}
	lines := config.Logger
	config.Logger = logger.Discard // what fails here is returned, and must be scrubbed first
	db, err := gorm.Open(t.dialector(), config)
	if err != nil {
		return nil, err
	}
	if db.Logger = lines; lines == nil {
		db.Logger = &sqlLogger{log: o.Log, slow: max(o.SlowThreshold, 0), dialect: db.Name()}
	}
	if err := t.setPool(ctx, db, o); err != nil {
		return nil, errors.Join(err, Close(db))
	}
	return db, nil
}

// setPool sets the limits of the pool and asks the server for an answer.
func (t *target) setPool(ctx context.Context, db *gorm.DB, o Options) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(max(o.MaxOpenConns, 0))
	pool.SetMaxIdleConns(max(o.MaxIdleConns, 0))
	pool.SetConnMaxLifetime(max(o.ConnMaxLifetime, 0))
	pool.SetConnMaxIdleTime(max(o.ConnMaxIdleTime, 0))
	if err := pool.PingContext(ctx); err != nil {
		return err
	}
	return boundPool(db, o.AcquireTimeout)
}

// kindOf asks the driver for the kind of an error.
func (t *target) kindOf(err error) driver.ErrorKind {
	if kind := driver.KindOf(err); kind != driver.Unknown || t.driver == nil {
		return kind
	}
	return t.driver.ErrorKind(err)
}

// transient reports whether waiting can mend err.
func transient(err error, kind driver.ErrorKind) bool {
	if kind != driver.Unknown {
		return kind == driver.Connection || kind == driver.TooManyConnections || kind == driver.LockTimeout
	}
	var network net.Error
	var file *fs.PathError // of a certificate, say; its number is a net.Error too
	return driver.Network(err) == driver.Connection || errors.As(err, &network) && !errors.As(err, &file)
}

// finish adds what every database of Plinth has, finds the replicas, and brings the schema up to date.
func (t *target) finish(ctx context.Context, db *gorm.DB, o Options) error {
	origin := &origin{target: t, log: o.Log}
	plugins := []gorm.Plugin{lean{}, contextErrors{}, xmodels.Plugin{Node: func() *xsnowflake.Node { return xsnowflake.NodeOf(ctx) }}, origin, newLeaseKeeper(ctx, origin)}
	var copies *replicas
	if len(t.replicas) > 0 {
		copies = newReplicas(t.replicas, o)
		plugins = append(plugins, copies)
	}
	for _, plugin := range plugins {
		if err := db.Use(plugin); err != nil {
			return fmt.Errorf("xdb: plugin %s: %w", plugin.Name(), err)
		}
	}
	if copies != nil {
		if err := copies.start(ctx); err != nil {
			return err
		}
	}
	return t.bringUp(WithPrimary(ctx), db, origin, o, t.migrations)
}

// BringUp does what Open does last, for who has opened db without it and has had to do something else before: it applies
// o.AutoMigrate and o.Migrations, and runs o.Prepare. The rest of o, except for Log, stands with Open.
func BringUp(ctx context.Context, db *gorm.DB, o Options) error {
	origin := originOf(db)
	files, err := origin.target.registry.readMigrations(origin.target, o.Migrations)
	if err != nil {
		return err
	}
	return origin.target.bringUp(WithPrimary(ctx), db, origin, o.withDefaults(), files)
}

// bringUp migrates and prepares.
func (t *target) bringUp(ctx context.Context, db *gorm.DB, origin *origin, o Options, files []migration) error {
	if len(o.AutoMigrate) > 0 {
		run := func(tx *gorm.DB) error {
			if err := checkTableNames(tx, o.AutoMigrate); err != nil {
				return err
			}
			return tx.AutoMigrate(o.AutoMigrate...)
		}
		if err := t.migrate(ctx, db, o.Log, run); err != nil {
			return t.schemaError("migrate", err)
		}
	}
	if len(files) > 0 {
		if err := origin.migrateFiles(ctx, db, files); err != nil {
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

// migrate runs a change of the schema in the state that the driver wants for it. Another process may need its lock for
// as long as its own change takes, so only the end of ctx ends the wait for it.
func (t *target) migrate(ctx context.Context, db *gorm.DB, log logLines, run func(tx *gorm.DB) error) error {
	ctx = WithPrimary(ctx)
	m, ok := t.driver.(driver.Migrator)
	if !ok {
		return run(db.WithContext(ctx))
	}
	for {
		entered := false
		err := m.Migrate(ctx, db, func(tx *gorm.DB) error {
			entered = true
			return run(tx.Session(&gorm.Session{NewDB: true})) // gorm's Connection gives a handle whose conditions pile up
		})
		if entered || t.kindOf(err) != driver.LockTimeout {
			return err
		}
		err = t.secrets.scrub(err, driver.LockTimeout)
		log.Warn(ctx, "waiting for a migration of another process", slog.String("error", err.Error()))
		if !sleep(ctx, lockPause) {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

// schemaError says what a change of the schema failed at, without a secret, and which variable leads to a database that
// cannot be changed.
func (t *target) schemaError(what string, err error) error {
	if err == nil {
		return nil
	}
	kind := t.kindOf(err)
	if kind == driver.UnknownDatabase || kind == driver.ReadOnly {
		what += t.setting()
	}
	return fmt.Errorf("xdb: %s: %w", what, t.secrets.scrub(err, kind))
}
