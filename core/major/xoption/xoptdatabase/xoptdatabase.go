// Package xoptdatabase holds the options of an application's database.
//
//	xoption.WithDatabase(
//		xoptdatabase.FromEnv(),
//		xoptdatabase.WithAutoMigrate(&entity.User{}),
//		xoptdatabase.WithMigrations(migrations.Files),
//		xoptdatabase.WithPrepare(prepare.Roles),
//	)
//
// Options take effect in their order, the later one wins. Nothing is read from the environment before Enabled,
// Check or Open, so that .env has been loaded by then.
package xoptdatabase

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// none is the name of the driver that stands for no database.
const none = "none"

// Option changes the configuration of the database.
type Option func(*Config)

// Config is what options have collected. It is safe for concurrent use once it is built.
type Config struct {
	steps    []func(*xdb.Options)
	registry *xdb.Registry // nil: the default one
	problems []error
}

// Build collects options. The error joins one for each that makes no sense in itself, such as a nil function;
// what depends on the environment is Check's to find.
func Build(opts ...Option) (*Config, error) {
	c := &Config{}
	for i, opt := range opts {
		if opt == nil {
			c.problem("option %d is nil", i+1)
			continue
		}
		opt(c)
	}
	return c, errors.Join(c.problems...)
}

func (c *Config) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("xoptdatabase: "+format, args...))
}

// Options returns what the options and, where FromEnv is among them, the environment say now.
func (c *Config) Options() xdb.Options {
	var o xdb.Options
	for _, step := range c.steps {
		step(&o)
	}
	if o.Driver == none {
		o.Driver = ""
	}
	return o
}

// Enabled reports whether there is a database to open: a driver or a dialector is named.
func (c *Config) Enabled() bool {
	o := c.Options()
	return o.Driver != "" || o.Dialector != nil
}

// Check returns every wrong setting, joined, without connecting. No database is not wrong.
//
// A variable whose text does not parse is xenv.Validate's to report; here it counts as not set.
func (c *Config) Check(context.Context) error {
	problems := errors.Join(c.problems...)
	if !c.Enabled() {
		return problems
	}
	if c.registry != nil {
		return errors.Join(problems, c.registry.Check(c.Options()))
	}
	return errors.Join(problems, xdb.Check(c.Options()))
}

// Open connects. Setup is to follow: it migrates. The caller closes the database with xdb.Close. It is nil where none is
// configured.
func (c *Config) Open(ctx context.Context) (*gorm.DB, error) {
	if err := errors.Join(c.problems...); err != nil || !c.Enabled() {
		return nil, err
	}
	o := c.Options()
	o.AutoMigrate, o.Migrations, o.Prepare = nil, nil, nil
	if c.registry != nil {
		return c.registry.Open(ctx, o)
	}
	return xdb.Open(ctx, o)
}

// HasSchema reports whether there is anything for Setup to do.
func (c *Config) HasSchema() bool {
	o := c.Options()
	return c.Enabled() && len(o.AutoMigrate)+len(o.Migrations)+len(o.Prepare) > 0
}

// Setup migrates what Open has opened, first the entities, then the SQL files, and runs the Prepare functions.
func (c *Config) Setup(ctx context.Context, db *gorm.DB) error {
	return xdb.Setup(ctx, db, c.Options())
}

// KeepsLeases reports whether the driver can keep leases: see xdb.Leases.
func (c *Config) KeepsLeases() bool {
	if c.registry != nil {
		return c.registry.KeepsLeases(c.Options())
	}
	return xdb.KeepsLeases(c.Options())
}

// Describe says in one line where the database is, without a secret; "none" where none is configured.
func (c *Config) Describe() string {
	switch {
	case !c.Enabled():
		return none
	case c.registry != nil:
		return c.registry.Describe(c.Options())
	default:
		return xdb.Describe(c.Options())
	}
}

// set makes an option of a change.
func set(change func(*xdb.Options)) Option {
	return func(c *Config) { c.steps = append(c.steps, change) }
}

// WithDriver names the driver and its whole connection string, instead of parts.
func WithDriver(name, dsn string) Option {
	return set(func(o *xdb.Options) { o.Driver, o.DSN = name, xlog.Secret(dsn) })
}

// WithDSN gives the whole connection string.
func WithDSN(dsn string) Option {
	return set(func(o *xdb.Options) { o.DSN = xlog.Secret(dsn) })
}

// WithReplicas gives the connection strings of copies of the database, for the same driver: reads outside of a transaction
// go to them in turn, everything else to the database itself. A replica that is down is left out until it answers again.
// It may lag behind; xdb.WithPrimary reads what has just been written. It may be given more than once.
func WithReplicas(dsn ...string) Option {
	return func(c *Config) {
		for i, text := range dsn {
			if strings.TrimSpace(text) == "" {
				c.problem("WithReplicas: DSN %d is empty", i+1)
				return
			}
		}
		set(func(o *xdb.Options) {
			for _, text := range dsn {
				o.Replicas = append(o.Replicas, xlog.Secret(text))
			}
		})(c)
	}
}

// WithParts gives the connection in parts, of which the driver makes the connection string.
func WithParts(parts driver.Config) Option {
	return set(func(o *xdb.Options) { o.Parts, o.DSN = parts, "" })
}

// WithDialector uses a dialector of gorm instead of a driver.
func WithDialector(d gorm.Dialector) Option {
	return func(c *Config) {
		if d == nil {
			c.problem("WithDialector: the dialector is nil")
			return
		}
		set(func(o *xdb.Options) { o.Dialector = d })(c)
	}
}

// WithRegistry finds the driver in r instead of among the imported ones.
func WithRegistry(r *xdb.Registry) Option {
	return func(c *Config) { c.registry = r }
}

// WithSingularTables names tables in the singular: the model User has the table user instead of users.
func WithSingularTables() Option {
	return set(func(o *xdb.Options) { o.SingularTables = true })
}

// WithTablePrefix puts prefix before the name of every table.
func WithTablePrefix(prefix string) Option {
	return set(func(o *xdb.Options) { o.TablePrefix = prefix })
}

// WithMaxOpenConns bounds the connections of the pool; 0 is no limit.
func WithMaxOpenConns(n int) Option {
	return set(func(o *xdb.Options) { o.MaxOpenConns = orNone(n) })
}

// WithMaxIdleConns bounds the idle connections that are kept; 0 keeps none.
func WithMaxIdleConns(n int) Option {
	return set(func(o *xdb.Options) { o.MaxIdleConns = orNone(n) })
}

// WithConnMaxLifetime sets the age at which a connection is replaced; 0 is never.
func WithConnMaxLifetime(d time.Duration) Option {
	return set(func(o *xdb.Options) { o.ConnMaxLifetime = orNone(d) })
}

// WithConnMaxIdleTime sets the idle time after which a connection is closed; 0 is never.
func WithConnMaxIdleTime(d time.Duration) Option {
	return set(func(o *xdb.Options) { o.ConnMaxIdleTime = orNone(d) })
}

// WithConnectTimeout sets how long the start waits for a database that is not there yet; 0 tries once.
func WithConnectTimeout(d time.Duration) Option {
	return set(func(o *xdb.Options) { o.ConnectTimeout = orNone(d) })
}

// WithAcquireTimeout sets how long a statement waits for a connection if all of the pool are in use; 0 is no limit.
func WithAcquireTimeout(d time.Duration) Option {
	return set(func(o *xdb.Options) { o.AcquireTimeout = orNone(d) })
}

// WithSlowThreshold logs statements that take longer; 0 logs none. A plain number is milliseconds.
func WithSlowThreshold[D time.Duration | int | int64](d D) Option {
	var threshold time.Duration
	switch v := any(d).(type) {
	case time.Duration:
		threshold = v
	case int:
		threshold = time.Duration(v) * time.Millisecond
	case int64:
		threshold = time.Duration(v) * time.Millisecond
	}
	return set(func(o *xdb.Options) { o.SlowThreshold = orNone(threshold) })
}

// WithLogger writes the database's lines to log.
func WithLogger(log *xlog.LogNamedLogger) Option {
	return set(func(o *xdb.Options) { o.Log = log })
}

// WithSkipDefaultTransaction leaves single writes without the transaction that gorm begins for each. It is
// faster; hooks that write, and associations, are then no longer one unit with their row.
func WithSkipDefaultTransaction() Option {
	return set(func(o *xdb.Options) { o.SkipDefaultTransaction = true })
}

// WithGorm changes gorm's own configuration, for what has no option here.
func WithGorm(change func(*gorm.Config)) Option {
	return set(func(o *xdb.Options) { o.Gorm = change })
}

// WithAutoMigrate creates or extends the tables of these entities. It may be given more than once.
func WithAutoMigrate(entities ...any) Option {
	return func(c *Config) {
		for i, e := range entities {
			if e == nil {
				c.problem("WithAutoMigrate: entity %d is nil", i+1)
				return
			}
		}
		set(func(o *xdb.Options) { o.AutoMigrate = append(o.AutoMigrate, entities...) })(c)
	}
}

// WithMigrations applies the SQL files in files after WithAutoMigrate and before WithPrepare, each once, in the order of
// their numbers: see migrate.Apply. It may be given more than once; the files are one set.
func WithMigrations(files fs.FS) Option {
	return func(c *Config) {
		if files == nil {
			c.problem("WithMigrations: the file system is nil")
			return
		}
		set(func(o *xdb.Options) { o.Migrations = append(o.Migrations, files) })(c)
	}
}

// PrepareFunc is a function that makes the database ready, with or without a context.
type PrepareFunc interface {
	func(context.Context, *gorm.DB) error | func(*gorm.DB) error
}

// WithPrepare runs functions after the migrations, in the order in which they were given. The database that
// they get is bound to the context of the start in either form.
func WithPrepare[F PrepareFunc](fns ...F) Option {
	return func(c *Config) {
		for i, fn := range fns {
			prepare := asPrepare(fn)
			if prepare == nil {
				c.problem("WithPrepare: function %d is nil", i+1)
				continue
			}
			set(func(o *xdb.Options) { o.Prepare = append(o.Prepare, prepare) })(c)
		}
	}
}
