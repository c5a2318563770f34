// Command usercenter registers users and lets them log in.
//
// It runs without any configuration: the users are in a SQLite file under .data, the
// cache is in the process. The environment, or a .env file, chooses any other backend
// that plugins.go imports.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/migration"
	"github.com/plinthgo/plinth/examples/usercenter/internal/route"
)

// dataDir holds the database file where nobody says otherwise.
const dataDir = ".data"

// dataFile is that file.
var dataFile = filepath.Join(dataDir, "usercenter.db")

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil)
}

// options describe the whole application; its tests start the same.
func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName:        "usercenter",
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     dataFile,
			xenv.DatabaseUser:   "postgres", // of a server, where the driver is that of one
			xenv.DatabaseName:   "postgres",
			xenv.DatabasePrefix: "app_",
			xenv.NoSqlDriver:    "memory",
		}),
		xoption.WithRequiredDatabase(
			xoptdatabase.FromEnv(), withDataDir, xoptdatabase.WithAutoMigrate(&entity.User{}),
			xoptdatabase.WithMigrations(migration.Files),
		),
		// the database knows what the cache has lost
		xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen()),
		xoption.WithRoute(route.Register),
		xoption.WithHealth(),
	}
}

// withDataDir creates the folder of the default database file if that file is used. It is
// an option of the database because options are evaluated when .env and the defaults have
// been read.
func withDataDir(o *xdb.Options) {
	if o.Driver == "sqlite" && o.DSN == "" && xenv.GetEnvString("DATABASE_PATH", "") == dataFile {
		_ = makeDataDir() // the driver reports a folder that is missing
	}
}

func makeDataDir() error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	ignore := filepath.Join(dataDir, ".gitignore")
	if _, err := os.Stat(ignore); err == nil {
		return nil
	}
	return os.WriteFile(ignore, []byte("*\n"), 0o600)
}
