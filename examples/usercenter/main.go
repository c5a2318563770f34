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

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
	"github.com/plinthgo/plinth/examples/usercenter/internal/migration"
	"github.com/plinthgo/plinth/examples/usercenter/internal/route"
)

// dataDir holds the database file where nobody says otherwise.
const dataDir = ".data"

// dataFile is that file.
var dataFile = filepath.Join(dataDir, "usercenter.db")

func main() {
	reg := xReg.Register(context.Background(), nil, options()...)
	xMain.Runner(reg, xLog.WithName(xLog.NamedMAIN), nil)
}

// options describe the whole application; its tests start the same.
func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
			xEnv.AppName:        "usercenter",
			xEnv.DatabaseDriver: "sqlite",
			xEnv.DatabasePath:   dataFile,
			xEnv.DatabaseUser:   "postgres", // of a server, where the driver is that of one
			xEnv.DatabaseName:   "postgres",
			xEnv.DatabasePrefix: "app_",
			xEnv.NoSqlDriver:    "memory",
		}),
		xOption.WithRequiredDatabase(
			xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&entity.User{}), xOptDatabase.WithMigrations(migration.Files),
		),
		withDataDir,
		xOption.WithCache(xOptCache.FromEnv(), xOptCache.WithFailOpen()), // the database knows what the cache has lost
		xOption.WithRoute(route.Register),
		xOption.WithHealth(),
	}
}

// withDataDir makes the folder of the database file, which git ignores wherever it is, where that file is used. It is a
// set-up because only then .env and defaults have been read, and no phase because the driver's check, which comes before
// every phase, already wants the folder to be there.
func withDataDir(p *xOption.Plan) {
	xOption.WithSetUp(func(context.Context) error {
		config, err := xOptDatabase.Build(p.Database...)
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
