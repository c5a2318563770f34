// Package sqlitefile opens SQLite files without creating or changing them. The settings
// of the service would switch the journal to a write-ahead log.
package sqlitefile

import (
	"os"
	"strings"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

// Path returns the database file, or "" if the database is in memory or not SQLite.
func Path(o xdb.Options) string {
	if o.Driver != sqlite.Name {
		return ""
	}
	path := ""
	if o.Parts.Source != nil {
		path, _ = o.Parts.Source.Lookup("DATABASE_PATH")
	}
	if o.DSN != "" {
		dsn := o.DSN.Reveal()
		if strings.Contains(dsn, "mode=memory") || strings.Contains(dsn, "vfs=memdb") {
			return ""
		}
		path = sqlite.Driver{}.Describe(dsn)
	}
	if strings.HasPrefix(path, ":memory:") {
		return ""
	}
	return path
}

// Exists reports whether the file exists. It returns true if the file cannot be
// inspected; opening the file then returns the reason.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return !os.IsNotExist(err)
}

// Unchanged returns options that open the file at path without changing it.
func Unchanged(o xdb.Options, path string) (xdb.Options, error) {
	dsn, err := sqlite.Driver{}.DSN(driver.Config{Source: xenv.Map{"DATABASE_PATH": path}})
	if err != nil {
		return o, err
	}
	file, _, _ := strings.Cut(dsn, "?")
	o.DSN = xlog.Secret(file + "?mode=rw&_pragma=busy_timeout(2000)")
	return o, nil
}
