package xdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/internal/plugin"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xdb/internal/dbconn"
	"github.com/plinthgo/plinth/core/major/xdb/migrate"
)

func init() { xenv.Register[Options]("Database") }

// Variables that errors name and that are read only here.
const (
	singularTablesKey xenv.EnvKey = "DATABASE_SINGULAR_TABLES"
	maxOpenConnsKey   xenv.EnvKey = "DATABASE_MAX_OPEN_CONNS"
	acquireTimeoutKey xenv.EnvKey = "DATABASE_ACQUIRE_TIMEOUT"
)

// Options configure how Open opens a database. For every number and duration, 0 is the
// default, and a negative value disables the limit, the retry or the log.
type Options struct {
	Driver string `env:"DATABASE_DRIVER" default:"none" doc:"Name of an imported driver, such as postgres, mysql, sqlite, oracle or sqlserver, or none."`
	// DSN replaces Parts.
	DSN xenv.Secret `env:"DATABASE_DSN" doc:"Full DSN; replaces the parts of the connection."`
	// Parts are the connection in parts, from which the driver builds the DSN.
	Parts driver.Config
	// Dialector replaces Driver, DSN and Parts.
	Dialector gorm.Dialector
	// Replicas are the DSNs of replicas for the same Driver. Reads outside transactions
	// use them in turn: see WithPrimary.
	Replicas []xlog.Secret

	TablePrefix    string `env:"DATABASE_PREFIX" doc:"Prefix of every table name."`
	SingularTables bool   `env:"DATABASE_SINGULAR_TABLES" default:"false" doc:"Singular table names: the model User has the table user instead of users."`
	// SkipDefaultTransaction disables the transaction that gorm begins for each single
	// write, on which hooks and associations rely.
	SkipDefaultTransaction bool
	// Gorm changes gorm's configuration last, for settings without an option here. It may
	// be nil.
	Gorm func(*gorm.Config)

	MaxOpenConns    int           `env:"DATABASE_MAX_OPEN_CONNS" default:"25" max:"2147483647" doc:"Maximum number of connections in the pool; 0 means no limit."`
	MaxIdleConns    int           `env:"DATABASE_MAX_IDLE_CONNS" default:"10" max:"2147483647" doc:"Maximum number of idle connections."`
	ConnMaxLifetime time.Duration `env:"DATABASE_CONN_MAX_LIFETIME" default:"1h" max:"876000h" doc:"Maximum age of a connection; 0 means no limit."`
	ConnMaxIdleTime time.Duration `env:"DATABASE_CONN_MAX_IDLE_TIME" default:"10m" max:"876000h" doc:"Maximum idle time of a connection; 0 means no limit."`
	ConnectTimeout  time.Duration `env:"DATABASE_CONNECT_TIMEOUT" default:"30s" max:"1h" doc:"How long startup retries an unavailable database; 0 disables retries."`
	// AcquireTimeout is the limit after which a statement fails with ServiceOverload.
	// With gorm's PrepareStmt it applies only to transactions.
	AcquireTimeout time.Duration `env:"DATABASE_ACQUIRE_TIMEOUT" default:"5s" max:"1h" doc:"How long a statement waits for a free connection of the pool; 0 means no limit."`
	SlowThreshold  time.Duration `env:"DATABASE_SLOW_THRESHOLD" default:"200ms" max:"1h" unit:"1ms" doc:"Duration from which a statement is logged as slow; 0 disables the log."`
	// Log is the logger; nil is the logger named DATA.
	Log *xlog.LogNamedLogger

	// AutoMigrate are the entities whose tables Setup creates or extends.
	AutoMigrate []any
	// Migrations contain SQL files that Setup applies after AutoMigrate, each once: see
	// package migrate.
	Migrations []fs.FS
	// Prepare functions run after the migrations, in order.
	Prepare []Prepare

	registry *Registry // nil is the default registry
	problems []error   // errors of options, such as a nil dialector
}

// Enabled reports whether there is a database to open: a driver other than "none" or a
// dialector is set. It also returns true if an option is invalid, so that Resolve reports
// the error.
func (o Options) Enabled() bool {
	return o.Driver != "" && o.Driver != none || o.Dialector != nil || len(o.problems) > 0
}

// Prepare prepares a database for the application, for example by inserting required
// rows. It runs at every startup, possibly in several processes concurrently.
type Prepare func(ctx context.Context, db *gorm.DB) error

// defaults are the defaults of the variables.
var defaults = sync.OnceValue(func() Options {
	o, _ := xenv.Load[Options](nil) // Register has validated the defaults
	return o
})

// off disables a limit, a retry or a log in Options. In the With functions and in the
// variables, 0 has this meaning.
const off = -1

// allOff disables every limit, retry and log for which 0 means the default.
var allOff = Options{
	MaxOpenConns: off, MaxIdleConns: off, ConnMaxLifetime: off, ConnMaxIdleTime: off,
	ConnectTimeout: off, AcquireTimeout: off, SlowThreshold: off,
}

// replaceZeros replaces every zero number of o with the number in values.
func replaceZeros(o *Options, values Options) {
	o.MaxOpenConns = cmp.Or(o.MaxOpenConns, values.MaxOpenConns)
	o.MaxIdleConns = cmp.Or(o.MaxIdleConns, values.MaxIdleConns)
	o.ConnMaxLifetime = cmp.Or(o.ConnMaxLifetime, values.ConnMaxLifetime)
	o.ConnMaxIdleTime = cmp.Or(o.ConnMaxIdleTime, values.ConnMaxIdleTime)
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, values.ConnectTimeout)
	o.AcquireTimeout = cmp.Or(o.AcquireTimeout, values.AcquireTimeout)
	o.SlowThreshold = cmp.Or(o.SlowThreshold, values.SlowThreshold)
}

// prefixPattern matches valid prefixes. Table names with such a prefix are the same with
// and without SQL quotes.
var prefixPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z_][a-z0-9_.]{0,29}$`)
})

// Database is a resolved database: its options, driver and DSN. It is safe for concurrent
// use.
type Database struct {
	options    Options
	info       *dbconn.Info
	dialector  func() gorm.Dialector
	advice     []string // warnings of the driver about the parts
	replicas   []*Database
	migrations *migrate.Set
}

// Resolve finds the driver of o, builds the DSN, and validates everything that needs no
// connection. The error joins every problem: an unknown driver, missing parts, invalid
// values, and SQL files that are not valid migrations.
func (r *Registry) Resolve(o Options) (*Database, error) {
	replaceZeros(&o, defaults())
	o.Log = cmp.Or(o.Log, xlog.WithName(xlog.NamedDATA))
	problems := o.check()
	d := &Database{options: o}
	var dialects []string // unknown without a driver
	// Otherwise an invalid option is the reason that there is no driver.
	if len(o.problems) == 0 || o.Driver != "" || o.Dialector != nil {
		err := r.find(d)
		if err == nil {
			problems = append(problems, r.findReplicas(d))
			dialects = []string{d.info.Name, d.dialector().Name()}
		}
		problems = append(problems, err)
	}
	set, err := migrate.Read(r.known(), dialects, o.Migrations...)
	if err = errors.Join(append(problems, err)...); err != nil {
		return nil, err
	}
	d.migrations = set
	return d, nil
}

// Resolve calls Registry.Resolve of the registry that WithRegistry sets, or of the
// default registry.
func Resolve(o Options) (*Database, error) {
	return cmp.Or(o.registry, &defaultRegistry).Resolve(o)
}

// String returns the driver and the location in one line, without secrets.
func (d *Database) String() string {
	switch n := len(d.replicas); n {
	case 0:
		return d.info.String()
	case 1:
		return d.info.String() + ", 1 replica"
	default:
		return fmt.Sprintf("%s, %d replicas", d.info, n)
	}
}

// SupportsLeases reports whether the driver supports Leases.
func (d *Database) SupportsLeases() bool {
	_, err := d.info.Clock()
	return err == nil
}

// HasSchema reports whether Setup has tables, migrations or Prepare functions to process.
func (d *Database) HasSchema() bool {
	return len(d.options.AutoMigrate)+len(d.options.Migrations)+len(d.options.Prepare) > 0
}

// check returns the problems of o that do not depend on the driver.
func (o Options) check() []error {
	problems := slices.Clone(o.problems)
	reportIf := func(invalid bool, format string, i int) {
		if invalid {
			problems = append(problems, fmt.Errorf("xdb: "+format, i+1))
		}
	}
	for i, p := range o.Prepare {
		reportIf(p == nil, "Prepare function %d is nil", i)
	}
	for i, m := range o.AutoMigrate {
		reportIf(m == nil, "AutoMigrate entity %d is nil", i)
	}
	for i, dsn := range o.Replicas {
		reportIf(strings.TrimSpace(dsn.Reveal()) == "", "replica %d: the DSN is empty", i)
	}
	if o.TablePrefix != "" && !prefixPattern().MatchString(o.TablePrefix) {
		problems = append(problems,
			xenv.Problem(xenv.DatabasePrefix, o.TablePrefix, "is not a valid prefix",
				"at most 30 lower-case letters, digits, _ and a dot after a schema, "+
					"starting with a letter or _"))
	}
	return problems
}

func (r *Registry) find(d *Database) error {
	o := d.options
	if o.Dialector != nil {
		d.info = &dbconn.Info{Name: o.Dialector.Name(), Drivers: r.known(), Log: o.Log}
		d.dialector = func() gorm.Dialector { return o.Dialector }
		return nil
	}
	if o.Driver == "" || o.Driver == none {
		return xenv.Problem(xenv.DatabaseDriver, "", "is not set", "the name of an imported driver")
	}
	drv, err := r.drivers.Find(family, o.Driver)
	if err != nil {
		return fmt.Errorf("%s: %w", xenv.DatabaseDriver, err)
	}
	d.info = &dbconn.Info{
		Name: o.Driver, Driver: drv, Drivers: r.known(), Variable: xenv.DatabaseDsn,
		Secrets: dbconn.NewSecrets(o.Parts.Pass), Log: o.Log, Probe: d.probe,
	}
	dsn := o.DSN.Reveal()
	if dsn == "" {
		if dsn, err = drv.DSN(o.Parts); err != nil {
			return d.info.Redact(err)
		}
		d.info.Variable, d.advice = "", append(drv.Advice(o.Parts), unread(drv, o.Parts.Source)...)
		if l, ok := drv.(driver.Locator); ok {
			d.info.Variable = l.Variable()
		}
	}
	d.info.Secrets = d.info.Secrets.WithDSN(dsn)
	d.info.Where = drv.Describe(dsn)
	d.dialector = func() gorm.Dialector { return drv.Dialector(dsn) }
	return nil
}

func (r *Registry) findReplicas(d *Database) error {
	if d.info.Driver == nil && len(d.options.Replicas) > 0 {
		return errors.New("xdb: Replicas need a Driver: set one instead of the Dialector, " +
			"or remove the Replicas")
	}
	var problems []error
	for i, dsn := range d.options.Replicas {
		replica := &Database{options: d.options}
		replica.options.DSN, replica.options.Gorm = dsn, nil // only its pool is used
		if err := r.find(replica); err != nil {
			problems = append(problems, fmt.Errorf("xdb: replica %d: %w", i+1, err))
			continue
		}
		d.replicas = append(d.replicas, replica)
		// Errors of statements may contain secrets of a replica.
		d.info.Secrets = d.info.Secrets.WithDSN(dsn.Reveal())
	}
	return errors.Join(problems...)
}

// unread returns a warning for each DATABASE_* variable that is set but read only by
// other drivers.
func unread(d driver.Driver, s xenv.Source) []string {
	if s == nil {
		return nil
	}
	var lines []string
	own, shared := plugin.PackageOf(d), plugin.PackageOf(Options{})
	for _, v := range xenv.Table() {
		key := v.Key.String()
		read := slices.Contains(v.Packages, own) || slices.Contains(v.Packages, shared)
		if _, set := s.Lookup(key); set && !read && strings.HasPrefix(key, "DATABASE_") {
			lines = append(lines, key+" is set, but this driver does not read it")
		}
	}
	return lines
}
