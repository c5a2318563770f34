// Package driver defines the interface of a database plugin. Applications use package
// xdb; only plugins import this package.
//
// A driver provides its name, its DSN, a gorm dialector and the classification of its
// errors. Package xdb implements what all databases share: pool, connection retry, table
// prefix, log of slow statements, migrations and error codes. Capabilities that only some
// databases have are optional interfaces: Clock, Locator, Migrator, Retrier.
package driver

import (
	"context"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// InterfaceVersion is incremented when a driver that still compiles might behave
// incorrectly.
const InterfaceVersion = 1

// Driver opens one kind of database. Its methods are safe for concurrent use. They do not
// connect: gorm connects when it initializes the dialector.
type Driver interface {
	// Name is the value of DATABASE_DRIVER that selects this driver.
	Name() string

	// InterfaceVersion returns the InterfaceVersion that the driver was written for.
	// Return the literal number, because the constant is that of the build. If it differs
	// from the constant, startup fails with an error that names both.
	InterfaceVersion() int

	// DSN builds a connection string from the parts and quotes every value. The error
	// names the variable of each missing or invalid part (see Missing) and never contains
	// a password.
	DSN(c Config) (string, error)

	// Advice returns warnings about valid parts that may be unintended. A server driver
	// returns Config.Advice. xdb logs each line once per Open. A line names the fix and
	// contains no secret.
	Advice(c Config) []string

	// Describe returns the location of the database for the startup banner and the log,
	// without passwords or parameters that may contain one. It returns "" for a DSN that
	// cannot be parsed.
	Describe(dsn string) string

	// Dialector returns a gorm dialector for a connection string. It embeds the dialector
	// of the library and implements gorm.ErrorTranslator with Translate. Its Initialize
	// returns an error for a string that cannot be parsed. If the database limits the
	// rows of a statement, or is faster with fewer, Initialize sets gorm's
	// CreateBatchSize unless it is already set.
	Dialector(dsn string) gorm.Dialector

	// ErrorKind classifies an error of the database library and returns Unknown for every
	// other error. xdb calls it with errors of the whole process, so it must return
	// Unknown for io.EOF and network errors: see TranslateNetwork.
	ErrorKind(err error) ErrorKind
}

// Clock is implemented by a driver whose database can store leases, see xdb.Leases. All
// times of a lease come from the database, so the clocks of the clients do not matter.
type Clock interface {
	// NowMicros returns an SQL expression for the microseconds since 1970 in UTC, as a
	// 64-bit integer. It is the time of the statement, not of its transaction, and
	// independent of the time zone of the session. It contains neither ? nor @, which
	// gorm replaces.
	NowMicros() string
	// Dual returns the clause that follows the columns of a SELECT without a table:
	// " FROM DUAL" or "".
	Dual() string
	// Scope reports which processes can share the database of db.
	Scope(db *gorm.DB) leasedriver.Scope
}

// Locator is implemented by a driver that builds the connection string from one variable.
// Errors of Open name that variable.
type Locator interface {
	Variable() xenv.EnvKey
}

// Retrier is implemented by a dialector's pool that retries statements. NotStarted
// reports whether err means that the database has not started the statement, so that a
// retry cannot change anything twice.
type Retrier interface {
	NotStarted(err error) bool
}

// Migrator is implemented by a driver whose schema changes need a lock or a special state
// of the connection. gorm checks whether a table exists and then creates it, which fails
// if two processes do so concurrently. The lock excludes other processes until run
// returns, and is released if the process crashes.
//
// Migrate calls run once with a handle on db and restores the connection afterwards. It
// returns the error of run, or an error of preparing or restoring the connection. If the
// lock is not granted in time, it returns an error of kind LockTimeout without calling
// run; xdb then retries until ctx is done. If the lock is a transaction, an error of run
// rolls it back.
//
// If the lock belongs to a connection, run receives that connection and may change its
// settings. Migrate must then close the connection instead of returning it to the pool,
// which also releases the lock. Do not bind a transaction on the connection to a context
// that can be canceled: database/sql would roll it back from another goroutine and close
// the connection while it is in use.
//
// Migrate polls for the lock instead of waiting in one long statement: a database may
// have to wait for every running statement, as PostgreSQL does for CREATE INDEX
// CONCURRENTLY.
type Migrator interface {
	Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error

	// TransactionalDDL reports whether a rollback undoes schema changes and one
	// transaction may contain several of them. A migration is then one transaction;
	// otherwise its progress is recorded after every statement, because each may commit
	// implicitly. It must return true if the lock is a transaction.
	TransactionalDDL() bool
}
