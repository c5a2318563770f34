// Package sqlite registers the "sqlite" database driver, written in pure Go.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/sqlite"
//
// It reads DATABASE_PATH, which has no default. A file has foreign keys on, WAL,
// synchronous NORMAL and a busy timeout of 5 s; its directory must exist. ":memory:" is
// one private database that lives as long as the pool, however large that is.
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

	// pragmas hold for every connection. A transaction takes the write lock when it
	// begins: one that first reads would fail with SQLITE_BUSY, without waiting, where
	// another has written meanwhile.
	pragmas     = "_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_txlock=immediate"
	filePragmas = "&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"

	// batchSize is the fastest number of rows: the library looks up each parameter among
	// all of its statement.
	batchSize = 100
)

func init() {
	xenv.Register[settings]("Database: SQLite")
	xdb.Register(Driver{})
}

// path is the variable of which the driver makes the connection string.
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

// DSN implements driver.Driver. Any character may stand in the path.
func (Driver) DSN(c driver.Config) (string, error) {
	own, err := xenv.Load[settings](c.Source)
	if err = errors.Join(err, driver.Missing(map[xenv.EnvKey]string{path: own.Path})); err != nil {
		return "", err
	}
	if own.Path == memory {
		return memory + "?" + pragmas, nil
	}
	if err := checkPath(own.Path); err != nil {
		return "", err
	}
	file := filepath.ToSlash(filepath.Clean(own.Path))
	if filepath.VolumeName(own.Path) != "" {
		file = "/" + file // file:/C:/data/app.db
	}
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + pragmas + filePragmas, nil
}

// checkPath says what SQLite would only call "unable to open database file".
func checkPath(file string) error {
	problem := func(text string) error { return xenv.Problem(path, file, text, "") }
	if strings.ContainsRune(file, 0) {
		return problem("holds a NUL byte")
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

// Describe implements driver.Driver: the path without its parameters.
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

// kinds is the error table: extended codes where they say more than the primary one.
var kinds = map[int]driver.ErrorKind{
	lib.SQLITE_CONSTRAINT_UNIQUE:     driver.Unique,
	lib.SQLITE_CONSTRAINT_PRIMARYKEY: driver.Unique,
	lib.SQLITE_CONSTRAINT_ROWID:      driver.Unique,
	lib.SQLITE_CONSTRAINT_FOREIGNKEY: driver.ForeignKey,
	lib.SQLITE_CONSTRAINT_TRIGGER:    driver.ForeignKey, // ON DELETE RESTRICT
	lib.SQLITE_CONSTRAINT_NOTNULL:    driver.NotNull,
	// a text that is no number, in a table that is STRICT
	lib.SQLITE_CONSTRAINT_DATATYPE: driver.Malformed,
	lib.SQLITE_CONSTRAINT:          driver.Check,
	lib.SQLITE_MISMATCH:            driver.Malformed, // the same as a key
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

// dialector is glebarez/sqlite's with our pool and our errors.
type dialector struct{ gormsqlite.Dialector }

// Initialize implements gorm.Dialector.
func (d *dialector) Initialize(db *gorm.DB) error {
	d.Conn = sql.OpenDB(newConnector(d.DSN))
	db.CreateBatchSize = cmp.Or(db.CreateBatchSize, batchSize)
	return d.Translate(d.Dialector.Initialize(db))
}

// Translate implements gorm.ErrorTranslator. SQLite names columns and tables in its
// texts, never values; only where it did not understand a statement does it quote a piece
// of that, which can be a literal.
func (d *dialector) Translate(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	switch {
	case strings.Contains(text, `near "'`):
		text = "syntax error at a literal"
	// SQLITE_CANTOPEN; the library asks a handle that is none for the rest
	case strings.HasSuffix(text, "(14)"):
		text = "unable to open database file (14)"
	}
	return driver.Translate(Driver{}.ErrorKind(err), err, text)
}
