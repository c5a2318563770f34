// Package driver defines what a database plugin implements. Applications use package xdb;
// only plugins import this package.
//
// A driver gives its name, the DSN made of the parts, a gorm dialector and its error
// table. What all databases share (pool, retry at the start, prefix, log of slow
// statements, migration, error codes) is written once, in xdb. What only some can do is
// an optional interface: Clock, Locator, Migrator, Retrier.
package driver

import (
	"context"

	"gorm.io/gorm"

	leasedriver "github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/defined/xenv"
)

// InterfaceVersion counts the changes of this package after which a driver that still
// compiles might do the wrong thing.
const InterfaceVersion = 1

// Driver opens one kind of database. Its methods are called from any goroutine, and none
// of them connects: that begins when gorm initializes the dialector.
type Driver interface {
	// Name is the value of DATABASE_DRIVER that selects this driver.
	Name() string

	// InterfaceVersion is the InterfaceVersion for which the driver was written: the
	// number itself, since the constant is whatever the program was built with. Any other
	// than this package's ends the start, with an error that names both.
	InterfaceVersion() int

	// DSN assembles a connection string of the parts, every value quoted as the database
	// wants it. The error names each part that is missing or wrong (by its variable, see
	// Missing) and never holds a password.
	DSN(c Config) (string, error)

	// Advice says what about parts is lawful, but maybe not what was meant:
	// Config.Advice, for a driver of a server. xdb writes each line as a warning, once
	// for each Open. A line says what to set, and holds no secret.
	Advice(c Config) []string

	// Describe says where a DSN leads to, for the banner at the start and the log. The
	// text holds neither a password nor any parameter that could carry one; it is "" for
	// a DSN that does not parse.
	Describe(dsn string) string

	// Dialector adapts a connection string to gorm. It embeds the dialector of the
	// library and implements gorm.ErrorTranslator with Translate. A string that does not
	// parse is an error when it is initialized. If the database takes only so many rows
	// in one statement, or is faster with fewer, it then sets gorm's CreateBatchSize
	// unless that is set.
	Dialector(dsn string) gorm.Dialector

	// ErrorKind classifies an error of the database library; Unknown if it is not one, or
	// has no kind. It is called with errors of the whole process, so it returns Unknown
	// for io.EOF and errors of the network: see TranslateNetwork.
	ErrorKind(err error) ErrorKind
}

// Clock is implemented by a driver whose database can keep leases, see xdb.Leases. Every
// time of a lease is one of the database, so that the clocks of those who ask for it do
// not matter.
type Clock interface {
	// NowMicros returns an SQL expression for the microseconds since 1970 in UTC, as a
	// 64-bit integer: the time at which the statement began or later, not that of its
	// transaction, and the same in every time zone of a session. It holds neither ? nor
	// @, which gorm replaces.
	NowMicros() string
	// Dual returns what stands behind the columns of a SELECT that reads no table: " FROM
	// DUAL", or "".
	Dual() string
	// Scope says whose processes can share the database of db.
	Scope(db *gorm.DB) leasedriver.Scope
}

// Locator is implemented by a driver that makes the connection string of one variable,
// which errors of Open then name.
type Locator interface {
	Variable() xenv.EnvKey
}

// Retrier is implemented by the pool of a dialector that runs statements again by itself.
// NotStarted reports whether err means that the database has not begun the statement, so
// that another try changes nothing twice.
type Retrier interface {
	NotStarted(err error) bool
}

// Migrator is implemented by a driver whose schema changes need the connection in a
// special state, or a lock: gorm looks for a table and then creates it, which fails in
// the second of two processes that do so at the same moment. A lock is one between
// processes, held until run returns, and let go where the process dies.
//
// Migrate calls run once with a handle on db, and puts the connection back when run
// returns. Its error is run's, or what kept it from putting the state up or down. Where
// the lock was not granted in time, it is one of kind LockTimeout and run was not called;
// xdb then tries again until ctx ends. Where the lock is a transaction, run's error
// undoes it.
//
// Where the lock is a connection's, run gets that connection, and may have set it to
// anything: close it rather than give it back, which also lets go of the lock. A
// transaction on it must not be tied to a context that can end: database/sql ends such a
// one from another goroutine, and closes the connection while it is used.
//
// It waits for the lock by asking again rather than within one long statement: a database
// may have to wait for all that are under way, as PostgreSQL does for CREATE INDEX
// CONCURRENTLY.
type Migrator interface {
	Migrate(ctx context.Context, db *gorm.DB, run func(tx *gorm.DB) error) error

	// TransactionalDDL reports whether the database undoes a change of the schema with
	// the transaction in which it was made, and lets several stand in one. A migration is
	// then one transaction; else it is noted statement by statement, because each may
	// commit by itself. It must be true where the lock is a transaction.
	TransactionalDDL() bool
}
