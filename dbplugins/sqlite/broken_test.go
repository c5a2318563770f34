package sqlite_test

import (
	"cmp"
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gosqlite "github.com/glebarez/go-sqlite"
	gormsqlite "github.com/glebarez/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// broken is the driver with one fault.
type broken struct {
	sqlite.Driver

	dsn       func(driver.Config) (string, error)
	dialector func(dsn string) gorm.Dialector
	kind      func(error) driver.ErrorKind
}

func pathOf(c driver.Config) string {
	path, _ := c.Source.Lookup("DATABASE_PATH")
	return path
}

func (b broken) DSN(c driver.Config) (string, error) {
	if b.dsn != nil {
		return b.dsn(c)
	}
	return b.Driver.DSN(c)
}

func (b broken) Dialector(dsn string) gorm.Dialector {
	if b.dialector != nil {
		return b.dialector(dsn)
	}
	return b.Driver.Dialector(dsn)
}

func (b broken) ErrorKind(err error) driver.ErrorKind {
	if b.kind != nil {
		return b.kind(err)
	}
	return b.Driver.ErrorKind(err)
}

// plain hides the optional interfaces of a driver.
type plain struct{ driver.Driver }

// dialect hides the optional interfaces of a dialector except ErrorTranslator.
type dialect struct{ gorm.Dialector }

func (d dialect) Translate(err error) error {
	t, _ := d.Dialector.(gorm.ErrorTranslator)
	return t.Translate(err)
}

// unprefixed removes the table prefix.
type unprefixed struct{ dialect }

func (unprefixed) Apply(c *gorm.Config) error {
	c.NamingStrategy = schema.NamingStrategy{}
	return nil
}

// leaky includes the parameters of a failed statement in its error.
type leaky struct{ dialect }

func (d leaky) Translate(err error) error {
	if err == nil {
		return nil
	}
	return driver.Translate(driver.Unique, err, "unique-secret-value")
}

// committing does not roll back a failed migration.
type committing struct{ sqlite.Driver }

func (committing) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	var err error
	txErr := db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		err = run(tx)
		return nil
	})
	return errors.Join(err, txErr)
}

// unlocked runs migrations without a lock.
type unlocked struct{ sqlite.Driver }

func (unlocked) Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error {
	return run(db.WithContext(ctx))
}

// dsnWith returns a DSN function with one setting changed.
func dsnWith(from, to string) func(driver.Config) (string, error) {
	return func(c driver.Config) (string, error) {
		dsn, err := sqlite.Driver{}.DSN(c)
		return strings.Replace(dsn, from, to, 1), err
	}
}

// library returns the dialector of the library.
func library(dsn string) gorm.Dialector { return gormsqlite.Open(dsn) }

// twoSeconds is a slow statement that returns, for a driver that cannot interrupt it. It
// sleeps, because the duration of a count depends on the load of the machine.
const twoSeconds = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT count(nap(i)) FROM n"

func init() {
	gosqlite.MustRegisterScalarFunction("nap", 1,
		func(*gosqlite.FunctionContext, []sqldriver.Value) (sqldriver.Value, error) {
			<-time.After(20 * time.Millisecond)
			return int64(1), nil
		})
}

func TestRun_BrokenDrivers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		driver driver.Driver
		want   string // the check that must fail
	}{
		{
			name:   "one database per connection",
			driver: broken{dialector: func(string) gorm.Dialector { return library(":memory:") }},
			want:   "Load/all connections share one database",
		},
		{
			name: "errors without a kind",
			driver: broken{
				dialector: library,
				kind:      func(error) driver.ErrorKind { return driver.Unknown },
			},
			want: "Errors/same code on every database",
		},
		{
			name:   "untranslated errors",
			driver: broken{dialector: library},
			want:   "Errors/same kind from every gorm method",
		},
		{
			name: "process-wide errors",
			driver: broken{kind: func(err error) driver.ErrorKind {
				return cmp.Or(sqlite.Driver{}.ErrorKind(err),
					driver.KindOf(driver.TranslateNetwork(err)))
			}},
			want: "Errors/foreign errors are not classified",
		},
		{
			name:   "foreign keys off",
			driver: broken{dsn: dsnWith("foreign_keys(1)", "foreign_keys(0)")},
			want:   "Errors/same code on every database",
		},
		{
			name: "values in errors",
			driver: broken{dialector: func(dsn string) gorm.Dialector {
				return leaky{dialect{sqlite.Driver{}.Dialector(dsn)}}
			}},
			want: "Errors/contain no values",
		},
		{
			name:   "statements cannot be interrupted",
			driver: broken{dialector: library},
			want:   "Errors/deadline interrupts a statement",
		},
		{
			name:   "lock waits cannot be interrupted",
			driver: broken{dialector: library, dsn: dsnWith("timeout(5000)", "timeout(1500)")},
			want:   "Errors/deadline interrupts the wait for a lock",
		},
		{
			name:   "times in the local time zone",
			driver: broken{dialector: library},
			want:   "Data/times are UTC with microseconds",
		},
		{
			name: "path is not escaped",
			driver: broken{dsn: func(c driver.Config) (string, error) {
				return pathOf(c) + "?_pragma=foreign_keys(1)", nil
			}},
			want: "Open/accepts special characters",
		},
		{
			name: "parts are not checked",
			driver: broken{dsn: func(c driver.Config) (string, error) {
				return "file:" + pathOf(c), nil
			}},
			want: "Open/rejects bad parts",
		},
		{
			name: "password in an error",
			driver: broken{dsn: func(c driver.Config) (string, error) {
				return "", fmt.Errorf("DATABASE_PATH: cannot use %q", c.Pass)
			}},
			want: "Open/rejects bad parts",
		},
		{
			name: "permanent error reported as temporary",
			driver: broken{
				kind:      func(error) driver.ErrorKind { return driver.Connection },
				dialector: library,
			},
			want: "Open/does not retry a permanent error",
		},
		{
			name: "no savepoints",
			driver: broken{dialector: func(dsn string) gorm.Dialector {
				return dialect{sqlite.Driver{}.Dialector(dsn)}
			}},
			want: "Transaction/rolls back to a savepoint",
		},
		{
			name: "no table prefix",
			driver: broken{dialector: func(dsn string) gorm.Dialector {
				return unprefixed{dialect{sqlite.Driver{}.Dialector(dsn)}}
			}},
			want: "Schema/tables have the prefix",
		},
		{
			name:   "migration deletes referencing rows",
			driver: plain{sqlite.Driver{}},
			want:   "Schema/migration keeps referencing rows",
		},
		{
			name:   "no migration lock",
			driver: plain{sqlite.Driver{}},
			want:   "Migrations/lock excludes a second run",
		},
		{
			name:   "migration lock without effect",
			driver: unlocked{},
			want:   "Migrations/lock excludes a second run",
		},
		{
			name:   "row lock waits cannot be interrupted",
			driver: broken{dialector: library, dsn: dsnWith("timeout(5000)", "timeout(1200)")},
			want:   "Lock/deadline interrupts the wait for a row",
		},
		{
			name: "transactions lock too late",
			driver: broken{dialector: library, dsn: func(c driver.Config) (string, error) {
				dsn, err := sqlite.Driver{}.DSN(c)
				return strings.NewReplacer("_txlock=immediate", "_txlock=deferred",
					"timeout(5000)", "timeout(10)").Replace(dsn), err
			}},
			want: "Lock/row lock loses no update",
		},
		{
			name:   "no wait for a lock",
			driver: broken{dialector: library, dsn: dsnWith("timeout(5000)", "timeout(10)")},
			want:   "Lock/deadlock is detected and can be retried",
		},
		{
			name:   "schema changes are not rolled back",
			driver: committing{},
			want:   "Migrations/failed migration resumes",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := harness()
			h.Driver = tc.driver
			h.Slow = twoSeconds
			// a faulty lock shows only in concurrent transactions, which a busy machine
			// may run one after another
			for range 5 {
				if got := dbtest.Failures(t, h, tc.want); len(got[tc.want]) > 0 {
					t.Log(got)
					return
				}
			}
			t.Errorf("%s passed", tc.want)
		})
	}
}

// serverHarness returns a SQLite harness that declares a server, which does not exist.
func serverHarness(t *testing.T) dbtest.Harness {
	t.Helper()
	h := harness()
	for _, name := range []string{dbtest.DiffNoServer, dbtest.DiffNoTLS, dbtest.DiffNoDecimal} {
		delete(h.Differences, name)
	}
	config := h.Config
	h.Config = func(tb testing.TB) driver.Config {
		c := config(tb)
		c.Host, c.Port, c.Pass = "127.0.0.1", 1, "hunter2"
		return c
	}
	nothing := func() error { return nil }
	h.Outage = func(tb testing.TB) dbtest.Outage {
		return dbtest.Outage{Config: h.Config(tb), Stop: nothing, Start: nothing}
	}
	h.TLS = &dbtest.TLS{
		CA:        "sqlite_test.go",
		Encrypted: func(*gorm.DB) (bool, error) { return false, nil },
	}
	h.Slow = twoSeconds
	h.Driver = tampering(tamper{noTx: true}) // SQLite permits one write transaction at a time
	return h
}

func TestRun_MissingServer(t *testing.T) {
	wantFailures(t, serverHarness(t), []string{
		"Values/decimals are exact", "Values/rejects decimals out of range",
		"TLS/encrypts according to the mode", "TLS/rejects an untrusted certificate",
		"TLS/rejects a certificate for another host", "TLS/rejects bad settings",
		"TLS/warns about plain text to another host",
		"Outage/fails fast and recovers", "Outage/recovers from a network failure",
		"Outage/silent server does not block callers",
	})
}
