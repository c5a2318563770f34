// Package sqlserver registers the "sqlserver" database driver, for SQL Server 2016 and
// later and for Azure SQL.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/sqlserver"
//
// It reads DATABASE_HOST (localhost; for host\instance, SQL Server Browser provides the
// port), DATABASE_PORT (1433), DATABASE_USER, DATABASE_PASS, DATABASE_NAME, DATABASE_TLS
// and DATABASE_TLS_CA. Times are written in UTC. FOR UPDATE becomes table hints, and an
// insert with a conflict clause becomes MERGE. A long insert is split into several
// statements.
package sqlserver

import (
	gormsqlserver "gorm.io/driver/sqlserver"
	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Name is the value of DATABASE_DRIVER that selects this driver.
const Name = "sqlserver"

func init() { xdb.Register(Driver{}) }

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Driver.
func (Driver) InterfaceVersion() int { return 1 }

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector {
	return &dialector{Dialector: gormsqlserver.Dialector{Config: &gormsqlserver.Config{DSN: dsn}}}
}

// TransactionalDDL implements driver.Migrator.
func (Driver) TransactionalDDL() bool { return true }

// Advice implements driver.Driver.
func (Driver) Advice(c driver.Config) []string { return c.Advice() }
