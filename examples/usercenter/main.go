// Command usercenter registers users and lets them log in.
//
// It runs without any configuration: the users are in a SQLite file under .data, the cache is in the process. The
// environment, or a .env file, chooses any other backend that plugins.go imports.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
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
			xenv.DatabasePath:   dataFile,
			xenv.DatabaseUser:   "postgres", // of a server, where the driver is that of one
			xenv.DatabaseName:   "postgres",
			xenv.DatabasePrefix: "app_",
			xenv.NoSqlDriver:    "memory",
		}),
		xoption.WithRequiredDatabase(
			xoptdatabase.FromEnv(), xoptdatabase.WithAutoMigrate(&entity.User{}), xoptdatabase.WithMigrations(migration.Files),
		),
		withDataDir,
		xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen()), // the database knows what the cache has lost
		xoption.WithRoute(route.Register),
		xoption.WithHealth(),
	}
}

// withDataDir makes the folder of the database file, which git ignores wherever it is, where that file is used. It is a
// set-up because only then .env and defaults have been read, and no phase because the driver's check, which comes before
// every phase, already wants the folder to be there.
func withDataDir(p *xoption.Plan) {
	xoption.WithSetUp(func(context.Context) error {
		config, err := xoptdatabase.Build(p.Database...)
		if err != nil {
			return nil //nolint:nilerr // the check of the database reports it
		}
		if o := config.Options(); o.Driver != "sqlite" || o.DSN != "" || o.Parts.Path != dataFile {
			return nil
		}
		if err := makeDataDir(); err != nil {
			return fmt.Errorf("folder of the database file: %w", err)
		}
		return nil
	})(p)
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
