// Package mysql registers the "mysql" database driver, for MySQL and MariaDB.
//
//	import _ "github.com/plinthgo/plinth/dbplugins/mysql"
//
// It reads DATABASE_HOST (localhost; a path is a Unix socket), DATABASE_PORT (3306),
// DATABASE_USER, DATABASE_PASS, DATABASE_NAME, DATABASE_CHARSET (utf8mb4), DATABASE_TLS
// and DATABASE_TLS_CA. Times are in UTC and the session is strict. If the context of a
// statement is canceled, the statement is also stopped on the server.
package mysql

import (
	"net/url"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// Name is the value of DATABASE_DRIVER that selects this driver.
const Name = "mysql"

func init() {
	xenv.Register[settings]("Database: MySQL and MariaDB")
	xdb.Register(Driver{})
}

const charsetKey xenv.EnvKey = "DATABASE_CHARSET"

type settings struct {
	Charset string `env:"DATABASE_CHARSET" default:"utf8mb4" doc:"Character set of the connection."`
}

// Driver implements driver.Driver. The zero value is ready to use.
type Driver struct{}

// Name implements driver.Driver.
func (Driver) Name() string { return Name }

// InterfaceVersion implements driver.Driver.
func (Driver) InterfaceVersion() int { return 1 }

// Describe implements driver.Driver. It returns the address and the name of the database.
func (Driver) Describe(dsn string) string {
	cfg, err := parse(dsn)
	if err != nil || strings.Contains(cfg.Net, ":") { // cfg.Net is part of a password
		return ""
	}
	return cfg.Addr + "/" + url.PathEscape(cfg.DBName)
}

// Dialector implements driver.Driver.
func (Driver) Dialector(dsn string) gorm.Dialector { return &dialector{dsn: dsn} }

// TransactionalDDL implements driver.Migrator. Both servers commit before and after each
// schema change.
func (Driver) TransactionalDDL() bool { return false }

// Advice implements driver.Driver.
func (Driver) Advice(c driver.Config) []string {
	lines := c.Advice()
	defaults, _ := xenv.Load[settings](nil)
	if vars, err := xenv.Load[settings](c.Source); err == nil && vars != defaults {
		lines = append(lines, charsetKey.String()+" is "+strconv.Quote(vars.Charset)+
			": strings are sent in UTF-8, and only "+defaults.Charset+
			" can represent every character")
	}
	return lines
}
