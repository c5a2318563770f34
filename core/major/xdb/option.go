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

// none is the driver name that disables the database.
const none = "none"

// Option modifies Options. Options are applied in order, so later options win.
type Option func(*Options)

// NewOptions applies opts to empty Options and skips nil options. Resolve reports invalid
// options.
func NewOptions(opts ...Option) Options {
	var o Options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	return o
}

// FromEnv reads DATABASE_* from the environment, including the variables of the driver. A
// variable that is not set keeps the value of an earlier option. If DATABASE_DRIVER is
// "none" or not set, there is no database.
func FromEnv() Option {
	return func(o *Options) {
		s := xenv.Environment()
		if _, set := s.Lookup(xenv.DatabaseDriver.String()); set {
			o.DSN, o.Parts = "", driver.Config{}
		}
		o.Parts.Source = s
		replaceZeros(o, defaults()) // so a 0 after Fill is the value of a variable
		if err := xenv.Fill(s, o); err != nil {
			o.problems = append(o.problems, err)
		}
		replaceZeros(o, allOff)
	}
}

// WithDriver sets the driver and its full DSN instead of parts.
func WithDriver(name, dsn string) Option {
	return func(o *Options) { o.Driver, o.DSN = name, xlog.Secret(dsn) }
}

// WithDSN sets the full DSN.
func WithDSN(dsn string) Option { return func(o *Options) { o.DSN = xlog.Secret(dsn) } }

// WithParts sets the connection in parts, from which the driver builds the DSN.
func WithParts(parts driver.Config) Option {
	return func(o *Options) { o.Parts, o.DSN = parts, "" }
}

// WithReplicas adds the DSNs of replicas for the same driver: see Options.Replicas. It
// may be repeated.
func WithReplicas(dsn ...string) Option {
	return func(o *Options) {
		for _, text := range dsn {
			o.Replicas = append(o.Replicas, xlog.Secret(text))
		}
	}
}

// WithDialector sets a gorm dialector instead of a driver.
func WithDialector(d gorm.Dialector) Option {
	return func(o *Options) {
		if d == nil {
			o.problems = append(o.problems, errors.New("xdb: WithDialector: the dialector is nil"))
		}
		o.Dialector = d
	}
}

// WithRegistry looks up the driver in r instead of the imported drivers.
func WithRegistry(r *Registry) Option { return func(o *Options) { o.registry = r } }

// WithSingularTables uses singular table names: the model User has the table user instead
// of users.
func WithSingularTables() Option { return func(o *Options) { o.SingularTables = true } }

// WithTablePrefix sets the prefix of all table names.
func WithTablePrefix(prefix string) Option { return func(o *Options) { o.TablePrefix = prefix } }

// WithMaxOpenConns limits the connections of the pool; 0 means no limit.
func WithMaxOpenConns(n int) Option { return func(o *Options) { o.MaxOpenConns = cmp.Or(n, off) } }

// WithMaxIdleConns limits the idle connections; 0 disables them.
func WithMaxIdleConns(n int) Option { return func(o *Options) { o.MaxIdleConns = cmp.Or(n, off) } }

// WithConnMaxLifetime sets the maximum age of a connection; 0 means no limit.
func WithConnMaxLifetime(d time.Duration) Option {
	return func(o *Options) { o.ConnMaxLifetime = cmp.Or(d, off) }
}

// WithConnMaxIdleTime sets the maximum idle time of a connection; 0 means no limit.
func WithConnMaxIdleTime(d time.Duration) Option {
	return func(o *Options) { o.ConnMaxIdleTime = cmp.Or(d, off) }
}

// WithConnectTimeout sets how long startup retries an unavailable database; 0 disables
// retries.
func WithConnectTimeout(d time.Duration) Option {
	return func(o *Options) { o.ConnectTimeout = cmp.Or(d, off) }
}

// WithAcquireTimeout sets how long a statement waits for a free connection of the pool; 0
// is no limit.
func WithAcquireTimeout(d time.Duration) Option {
	return func(o *Options) { o.AcquireTimeout = cmp.Or(d, off) }
}

// WithSlowThreshold logs statements that run longer; 0 disables the log. A plain number
// is in milliseconds.
func WithSlowThreshold[D time.Duration | int | int64](d D) Option {
	unit := time.Millisecond
	if _, ok := any(d).(time.Duration); ok {
		unit = time.Nanosecond
	}
	threshold := time.Duration(d) * unit
	return func(o *Options) { o.SlowThreshold = cmp.Or(threshold, off) }
}

// WithLogger sets the logger of the database.
func WithLogger(log *xlog.LogNamedLogger) Option { return func(o *Options) { o.Log = log } }

// WithSkipDefaultTransaction disables the transaction that gorm begins for each single
// write. This is faster, but hooks that write, and associations, are no longer atomic
// with their row.
func WithSkipDefaultTransaction() Option {
	return func(o *Options) { o.SkipDefaultTransaction = true }
}

// WithGorm changes gorm's configuration, for settings without an option here.
func WithGorm(change func(*gorm.Config)) Option { return func(o *Options) { o.Gorm = change } }

// WithAutoMigrate creates or extends the tables of these entities. It may be repeated.
func WithAutoMigrate(entities ...any) Option {
	return func(o *Options) { o.AutoMigrate = append(o.AutoMigrate, entities...) }
}

// WithMigrations applies the SQL files in files after WithAutoMigrate and before
// WithPrepare, each once, in the order of their versions: see package migrate. It may be
// repeated; all files form one set.
func WithMigrations(files fs.FS) Option {
	return func(o *Options) { o.Migrations = append(o.Migrations, files) }
}

// PrepareFunc is a function that prepares the database, with or without a context.
type PrepareFunc interface {
	func(context.Context, *gorm.DB) error | func(*gorm.DB) error
}

// WithPrepare runs functions after the migrations, in order. Both forms receive a
// database that is bound to the startup context.
func WithPrepare[F PrepareFunc](fns ...F) Option {
	return func(o *Options) {
		for _, fn := range fns {
			o.Prepare = append(o.Prepare, asPrepare(fn))
		}
	}
}

// asPrepare converts fn to a Prepare. It returns nil for a nil fn.
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
