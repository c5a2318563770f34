// Package oracle registers the "oracle" database driver, for Oracle Database 12.2 and
// later, written in pure Go.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/oracle"
//
// It reads DATABASE_HOST (localhost), DATABASE_PORT (1521), DATABASE_USER, DATABASE_PASS,
// DATABASE_SERVICE_NAME (default DATABASE_NAME), DATABASE_TLS and DATABASE_TLS_CA. It
// ignores DATABASE_LIB_DIR, because it needs no client library.
//
// # Names
//
// A name without an upper-case letter is written in upper case, so that unquoted SQL
// finds the same table. In results it is in lower case. Other names are unchanged. Names
// are always quoted, so they may be reserved words.
//
// # Statements
//
// An insert of several rows, or one that returns generated values, is a PL/SQL block of
// up to 100 INSERT statements. The block is atomic and needs one round trip. Unlike with
// UNION ALL, a NULL or a long string in one row does not change the type of a column. ON
// CONFLICT becomes a MERGE per row, or a handler of DUP_VAL_ON_INDEX if the clause has no
// columns.
//
// # Connections
//
// The package wraps the connections of the library go-ora. The wrapper converts result
// column names to lower case, binds Go values and detects a broken network that the
// library reports as the end of the rows. If a statement does not return after its
// context is canceled, the wrapper closes the connection.
//
// # Tests
//
// The package was developed without an Oracle server. The tests compare its SQL with
// reviewed golden files, which are recorded with a test double of go-ora. Connection
// errors are tested with a test double of a listener. The conformance suite runs if
// PLINTH_TEST_ORACLE_DSN is set.
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

// Describe implements driver.Driver. It returns the address and the service.
func (Driver) Describe(dsn string) string {
	clean, _, err := parse(dsn)
	if err != nil {
		return ""
	}
	u, _ := url.Parse(clean) // parse has already parsed it
	// without exactly one @, the host may be part of an unescaped password
	if u.User == nil || strings.Count(dsn, "@") != 1 {
		return ""
	}
	return u.Host + u.EscapedPath()
}

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector { return &dialector{dsn: dsn} }

// TransactionalDDL implements driver.Migrator. Oracle commits before and after each
// schema change.
func (Driver) TransactionalDDL() bool { return false }

// Advice implements driver.Driver.
func (Driver) Advice(c driver.Config) []string {
	lines := c.Advice()
	if vars, err := xenv.Load[settings](c.Source); err == nil && vars.LibDir != "" {
		lines = append(lines, "DATABASE_LIB_DIR is set, but this driver does not read it")
	}
	return lines
}
