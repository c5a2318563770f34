package xdb

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// none is the name of the driver that means "no database".
const none = "none"

// Option changes Options. Options take effect in their order, so a later one wins.
type Option func(*Options)

// NewOptions returns what opts make; a nil option is skipped. Problems of options are
// reported by Resolve.
func NewOptions(opts ...Option) Options {
	var o Options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// FromEnv reads DATABASE_* from the environment; the driver reads its own variables there
// too. A variable that is not set changes nothing that an option before FromEnv has set.
// DATABASE_DRIVER that is "none" or not set means no database.
func FromEnv() Option {
	return func(o *Options) {
		s := xenv.Environment()
		if _, set := s.Lookup(xenv.DatabaseDriver.String()); set {
			o.DSN, o.Parts = "", driver.Config{}
		}
		o.Parts.Source = s
		replaceZeros(o, defaults()) // so that a 0 is one that a variable has set
		if err := xenv.Fill(s, o); err != nil {
			o.problems = append(o.problems, err)
		}
		replaceZeros(o, allOff)
	}
}

// WithDriver names the driver and its whole connection string, instead of parts.
func WithDriver(name, dsn string) Option {
	return func(o *Options) { o.Driver, o.DSN = name, xlog.Secret(dsn) }
}

// WithDSN sets the whole connection string.
func WithDSN(dsn string) Option { return func(o *Options) { o.DSN = xlog.Secret(dsn) } }

// WithParts sets the connection in parts, of which the driver makes the connection
// string.
func WithParts(parts driver.Config) Option {
	return func(o *Options) { o.Parts, o.DSN = parts, "" }
}

// WithReplicas adds the connection strings of copies of the database, for the same
// driver: see Options.Replicas. It may be given more than once.
func WithReplicas(dsn ...string) Option {
	return func(o *Options) {
		for _, text := range dsn {
			o.Replicas = append(o.Replicas, xlog.Secret(text))
		}
	}
}

// WithDialector uses a dialector of gorm instead of a driver.
func WithDialector(d gorm.Dialector) Option {
	return func(o *Options) {
		if d == nil {
			o.problems = append(o.problems, errors.New("xdb: WithDialector: the dialector is nil"))
		}
		o.Dialector = d
	}
}

// WithRegistry finds the driver in r instead of among the imported ones.
func WithRegistry(r *Registry) Option { return func(o *Options) { o.registry = r } }

// WithSingularTables names tables in the singular: the model User has the table user
// instead of users.
func WithSingularTables() Option { return func(o *Options) { o.SingularTables = true } }

// WithTablePrefix puts prefix before the name of every table.
func WithTablePrefix(prefix string) Option { return func(o *Options) { o.TablePrefix = prefix } }

// WithMaxOpenConns bounds the connections of the pool; 0 is no limit.
func WithMaxOpenConns(n int) Option { return func(o *Options) { o.MaxOpenConns = cmp.Or(n, off) } }

// WithMaxIdleConns bounds the idle connections that are kept; 0 keeps none.
func WithMaxIdleConns(n int) Option { return func(o *Options) { o.MaxIdleConns = cmp.Or(n, off) } }

// WithConnMaxLifetime sets the age at which a connection is replaced; 0 is never.
func WithConnMaxLifetime(d time.Duration) Option {
	return func(o *Options) { o.ConnMaxLifetime = cmp.Or(d, off) }
}

// WithConnMaxIdleTime sets the idle time after which a connection is closed; 0 is never.
func WithConnMaxIdleTime(d time.Duration) Option {
	return func(o *Options) { o.ConnMaxIdleTime = cmp.Or(d, off) }
}

// WithConnectTimeout sets how long the start waits for a database that does not answer
// yet; 0 tries once.
func WithConnectTimeout(d time.Duration) Option {
	return func(o *Options) { o.ConnectTimeout = cmp.Or(d, off) }
}

// WithAcquireTimeout sets how long a statement waits for a connection if all of the pool
// are in use; 0 is no limit.
func WithAcquireTimeout(d time.Duration) Option {
	return func(o *Options) { o.AcquireTimeout = cmp.Or(d, off) }
}

// WithSlowThreshold logs statements that take longer; 0 logs none. A plain number is
// milliseconds.
func WithSlowThreshold[D time.Duration | int | int64](d D) Option {
	unit := time.Millisecond
	if _, ok := any(d).(time.Duration); ok {
		unit = time.Nanosecond
	}
	threshold := time.Duration(d) * unit
	return func(o *Options) { o.SlowThreshold = cmp.Or(threshold, off) }
}

// WithLogger writes the database's lines to log.
func WithLogger(log *xlog.LogNamedLogger) Option { return func(o *Options) { o.Log = log } }

// WithSkipDefaultTransaction leaves single writes without the transaction that gorm
// begins for each. It is faster; hooks that write, and associations, are then no longer
// one unit with their row.
func WithSkipDefaultTransaction() Option {
	return func(o *Options) { o.SkipDefaultTransaction = true }
}

// WithGorm changes gorm's own configuration, for what has no option here.
func WithGorm(change func(*gorm.Config)) Option { return func(o *Options) { o.Gorm = change } }

// WithAutoMigrate creates or extends the tables of these entities. It may be given more
// than once.
func WithAutoMigrate(entities ...any) Option {
	return func(o *Options) { o.AutoMigrate = append(o.AutoMigrate, entities...) }
}

// WithMigrations applies the SQL files in files after WithAutoMigrate and before
// WithPrepare, each once, in the order of their numbers: see package migrate. It may be
// given more than once; the files are one set.
func WithMigrations(files fs.FS) Option {
	return func(o *Options) { o.Migrations = append(o.Migrations, files) }
}

// PrepareFunc is a function that makes the database ready, with or without a context.
type PrepareFunc interface {
	func(context.Context, *gorm.DB) error | func(*gorm.DB) error
}

// WithPrepare runs functions after the migrations, in the order in which they were given.
// The database that they get is bound to the context of the start in either form.
func WithPrepare[F PrepareFunc](fns ...F) Option {
	return func(o *Options) {
		for _, fn := range fns {
			o.Prepare = append(o.Prepare, asPrepare(fn))
		}
	}
}

// asPrepare returns fn as a Prepare, or nil if it is nil.
func asPrepare[F PrepareFunc](fn F) Prepare {
	switch f := any(fn).(type) {
	case func(context.Context, *gorm.DB) error:
		return f
	case func(*gorm.DB) error:
		if f != nil {
			return func(_ context.Context, db *gorm.DB) error { return f(db) }
		}
	}
	return nil
}
