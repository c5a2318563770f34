// Package oracle registers the "oracle" database driver, for Oracle Database 12.2 and
// later. It is pure Go.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/oracle"
//
// It reads DATABASE_HOST (localhost), DATABASE_PORT (1521), DATABASE_USER, DATABASE_PASS,
// DATABASE_SERVICE_NAME (where that is empty, DATABASE_NAME), DATABASE_TLS and
// DATABASE_TLS_CA. DATABASE_LIB_DIR is ignored: there is no client library.
//
// # Names
//
// A name without an upper-case letter is written in upper case, so that unquoted SQL
// finds the same table; in results it is lower case again. Any other name is kept as it
// is. Names are always quoted, so reserved words may be used.
//
// # Statements
//
// What makes several rows, or returns what the database has filled in, is a PL/SQL block
// of up to 100 ordinary INSERTs: it is undone as a whole, takes one round trip, and a
// NULL or a large text in one row does not change the type of a column as it would in a
// UNION ALL. ON CONFLICT is a MERGE for each row, or a handler of DUP_VAL_ON_INDEX where
// no column is named.
//
// # Connections
//
// The connections of the library go-ora are wrapped. The wrapper lowers the names of
// result columns, binds Go values, sees a broken network where the library sees the end
// of the rows, and closes the network where a statement does not end with its context:
// such a connection is not used again.
//
// # What this rests on
//
// No server has answered to this package on the machines it was written on. Its SQL is
// compared with reviewed golden files that a double below the wrapper records, its
// connection errors with a double of a listener on a real socket. The conformance suite
// runs where PLINTH_TEST_ORACLE_DSN names a server.
package oracle

import (
	"net/url"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Name is the value of DATABASE_DRIVER that selects this driver.
const Name = "oracle"

func init() {
	xenv.Register[settings]("Database: Oracle")
	xdb.Register(Driver{})
}

const serviceKey xenv.EnvKey = "DATABASE_SERVICE_NAME"

type settings struct {
	ServiceName string `env:"DATABASE_SERVICE_NAME" doc:"Service name."`
	LibDir      string `env:"DATABASE_LIB_DIR" doc:"Accepted and ignored: the driver needs no client library."`
}

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Driver.
func (Driver) InterfaceVersion() int { return 1 }

// Describe implements driver.Driver: address and service.
func (Driver) Describe(dsn string) string {
	clean, _, err := parse(dsn)
	if err != nil {
		return ""
	}
	u, _ := url.Parse(clean) // parse has done so
	// what looks like a host may be a piece of a password
	if u.User == nil || strings.Count(dsn, "@") != 1 {
		return ""
	}
	return u.Host + u.EscapedPath()
}

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector { return &dialector{dsn: dsn} }

// TransactionalDDL implements driver.Migrator: Oracle commits before and after each
// change of the schema.
func (Driver) TransactionalDDL() bool { return false }

// Advice implements driver.Driver.
func (Driver) Advice(c driver.Config) []string {
	lines := c.Advice()
	if own, err := xenv.Load[settings](c.Source); err == nil && own.LibDir != "" {
		lines = append(lines, "DATABASE_LIB_DIR is set, but this driver does not read it")
	}
	return lines
}
