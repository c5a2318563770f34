// Command usercenter registers users and logs them in.
//
// It runs without configuration: users are stored in a SQLite file under .data, and the
// cache is in memory. The environment or a .env file selects any other backend that
// plugins.go imports.
package main

import (
	"context"
	_ "embed"
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
	"github.com/plinthgo/plinth/openapix"
)

// dataDir is the directory of the default database file.
const dataDir = ".data"

var dataFile = filepath.Join(dataDir, "usercenter.db")

// document is the OpenAPI document. It contains the doc comments, which a binary does not
// contain.
//
//go:generate go run github.com/plinthgo/plinth/tools/plinth openapi . --output openapi.json
//go:embed openapi.json
var document []byte

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil)
}

// options returns the options of the application, which its tests use too.
func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName:        "usercenter",
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     dataFile,
			xenv.DatabaseUser:   "postgres", // for database servers
			xenv.DatabaseName:   "postgres",
			xenv.DatabasePrefix: "app_",
			xenv.NoSqlDriver:    "memory",
		}),
		xoption.WithRequiredDatabase(
			xoptdatabase.FromEnv(), withDataDir, xoptdatabase.WithAutoMigrate(&entity.User{}),
			xoptdatabase.WithMigrations(migration.Files),
		),
		// The cache may fail open, because the database contains all data.
		xoption.WithCache(xoptcache.FromEnv(), xoptcache.WithFailOpen()),
		xoption.WithRoute(route.Register),
		xoption.WithHealth(),
		openapix.Serve(description()...),
	}
}

// description returns the options of the OpenAPI document.
func description() []openapix.Option {
	return []openapix.Option{
		openapix.WithTitle("User center"),
		openapix.WithVersion("1.0.0"),
		openapix.WithDescription("The sample service of Plinth: it registers users and logs them in."),
		openapix.WithTag("user", "Registration and login"),
		openapix.WithTag("system", "Checks of the service itself"),
		openapix.WithDescriptions(document),
	}
}

// withDataDir creates the directory of the default database file if that file is used. It
// is a database option because options are evaluated after .env and the defaults are
// read.
func withDataDir(o *xdb.Options) {
	if o.Driver == "sqlite" && o.DSN == "" && xenv.GetEnvString("DATABASE_PATH", "") == dataFile {
		_ = makeDataDir() // the driver reports a missing directory
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
