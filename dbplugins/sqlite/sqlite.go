// Package sqlite registers the "sqlite" database driver, written in pure Go.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/sqlite"
//
// It reads DATABASE_PATH, which is required. A file database uses foreign keys, WAL,
// synchronous NORMAL and a busy timeout of 5 s; its directory must exist. ":memory:" is a
// private database that exists until the pool is closed, and is shared by all of its
// connections.
package sqlite

import (
	"cmp"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	gosqlite "github.com/glebarez/go-sqlite"
	gormsqlite "github.com/glebarez/sqlite"
	"gorm.io/gorm"
	lib "modernc.org/sqlite/lib"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Name is the value of DATABASE_DRIVER that selects this driver.
const Name = "sqlite"

const (
	memory = ":memory:"

	// pragmas are set on every connection. A transaction acquires the write lock at
	// BEGIN. Otherwise a transaction that reads first fails with SQLITE_BUSY, without
	// waiting, if another transaction has written in the meantime.
	pragmas     = "_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_txlock=immediate"
	filePragmas = "&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"

	// batchSize is the fastest number of rows per insert: the library searches each
	// parameter among all parameters of the statement.
	batchSize = 100
)

func init() {
	xenv.Register[settings]("Database: SQLite")
	xdb.Register(Driver{})
}

// path is the variable from which the driver builds the DSN.
const path xenv.EnvKey = "DATABASE_PATH"

type settings struct {
	Path string `env:"DATABASE_PATH" doc:"Path of the database file, or :memory:."`
}

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Driver.
func (Driver) InterfaceVersion() int { return 1 }

// DSN implements driver.Driver. The path may contain any character except NUL.
func (Driver) DSN(c driver.Config) (string, error) {
	vars, err := xenv.Load[settings](c.Source)
	if err = errors.Join(err, driver.Missing(map[xenv.EnvKey]string{path: vars.Path})); err != nil {
		return "", err
	}
	if vars.Path == memory {
		return memory + "?" + pragmas, nil
	}
	if err := checkPath(vars.Path); err != nil {
		return "", err
	}
	file := filepath.ToSlash(filepath.Clean(vars.Path))
	if filepath.VolumeName(vars.Path) != "" {
		file = "/" + file // file:/C:/data/app.db
	}
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + pragmas + filePragmas, nil
}

// checkPath returns specific errors for paths that SQLite rejects with "unable to open
// database file".
func checkPath(file string) error {
	problem := func(text string) error { return xenv.Problem(path, file, text, "") }
	if strings.ContainsRune(file, 0) {
		return problem("contains a NUL byte")
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return problem("is a directory")
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return problem("is in a directory that does not exist")
	}
	return nil
}

// Advice implements driver.Driver.
func (Driver) Advice(driver.Config) []string { return nil }

// Describe implements driver.Driver. It returns the path without parameters.
func (Driver) Describe(dsn string) string {
	file, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
	if plain, err := url.PathUnescape(file); err == nil && strings.HasPrefix(dsn, "file:") {
		return plain
	}
	return file
}

// Variable implements driver.Locator.
func (Driver) Variable() xenv.EnvKey { return path }

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector {
	return &dialector{Dialector: gormsqlite.Dialector{DSN: dsn}}
}

// ErrorKind implements driver.Driver.
func (Driver) ErrorKind(err error) driver.ErrorKind {
	var e *gosqlite.Error
	if !errors.As(err, &e) {
		return driver.Unknown
	}
	if kind, ok := kinds[e.Code()]; ok {
		return kind
	}
	return kinds[e.Code()&0xff] // the primary code
}

// kinds maps result codes to kinds. An extended code has precedence over its primary
// code.
var kinds = map[int]driver.ErrorKind{
	lib.SQLITE_CONSTRAINT_UNIQUE:     driver.Unique,
	lib.SQLITE_CONSTRAINT_PRIMARYKEY: driver.Unique,
	lib.SQLITE_CONSTRAINT_ROWID:      driver.Unique,
	lib.SQLITE_CONSTRAINT_FOREIGNKEY: driver.ForeignKey,
	lib.SQLITE_CONSTRAINT_TRIGGER:    driver.ForeignKey, // ON DELETE RESTRICT
	lib.SQLITE_CONSTRAINT_NOTNULL:    driver.NotNull,
	// not a number, in a column of a STRICT table
	lib.SQLITE_CONSTRAINT_DATATYPE: driver.Malformed,
	lib.SQLITE_CONSTRAINT:          driver.Check,
	lib.SQLITE_MISMATCH:            driver.Malformed, // not a number, in an integer key
	lib.SQLITE_TOOBIG:              driver.TooLong,
	lib.SQLITE_BUSY_SNAPSHOT:       driver.Deadlock,
	lib.SQLITE_BUSY:                driver.LockTimeout,
	lib.SQLITE_LOCKED:              driver.LockTimeout,
	lib.SQLITE_INTERRUPT:           driver.Canceled,
	lib.SQLITE_CANTOPEN:            driver.UnknownDatabase,
	lib.SQLITE_NOTADB:              driver.UnknownDatabase,
	lib.SQLITE_AUTH:                driver.Authentication,
	lib.SQLITE_PERM:                driver.Authentication,
	lib.SQLITE_READONLY:            driver.ReadOnly,
	lib.SQLITE_ERROR:               driver.Syntax,
	lib.SQLITE_FULL:                driver.Full,
}

// dialector is the dialector of glebarez/sqlite with the pool and the errors of this
// package.
type dialector struct{ gormsqlite.Dialector }

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	d.Conn = sql.OpenDB(newConnector(d.DSN))
	db.CreateBatchSize = cmp.Or(db.CreateBatchSize, batchSize)
	return d.Translate(d.Dialector.Initialize(db))
}

// Translate implements gorm.ErrorTranslator. Messages of SQLite contain names of columns
// and tables, but no values, except for syntax errors, which may quote a literal.
func (d *dialector) Translate(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	switch {
	case strings.Contains(text, `near "'`):
		text = "syntax error at a literal"
	// SQLITE_CANTOPEN; the library reads the rest of the message from an invalid handle
	case strings.HasSuffix(text, "(14)"):
		text = "unable to open database file (14)"
	}
	return driver.Translate(Driver{}.ErrorKind(err), err, text)
}
