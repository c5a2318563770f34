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
	"github.com/plinthgo/plinth/examples/usercenter/internal/route"
)

// dataDir holds the database file where nobody says otherwise.
const dataDir = ".data"

func main() {
	if err := makeDataDir(); err != nil {
		fmt.Fprintln(os.Stderr, "usercenter:", err)
		os.Exit(1)
	}
	reg := xReg.Register(context.Background(), nil, options()...)
	xMain.Runner(reg, xLog.WithName(xLog.NamedMAIN), nil)
}

// options describe the whole application; its tests start the same.
func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
			xEnv.AppName:        "usercenter",
			xEnv.DatabaseDriver: "sqlite",
			xEnv.DatabasePath:   filepath.Join(dataDir, "usercenter.db"),
			xEnv.DatabaseUser:   "postgres", // of a server, where the driver is that of one
			xEnv.DatabaseName:   "postgres",
			xEnv.DatabasePrefix: "app_",
			xEnv.NoSqlDriver:    "memory",
		}),
		xOption.WithDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&entity.User{})),
		xOption.WithCache(xOptCache.FromEnv()),
		xOption.WithRoute(route.Register),
		xOption.WithHealth(),
	}
}

// makeDataDir makes the folder of the database file, which git ignores wherever it is, unless another database is chosen.
func makeDataDir() error {
	for _, key := range []xEnv.EnvKey{xEnv.DatabaseDriver, xEnv.DatabasePath} {
		if _, chosen := xEnv.GetEnv(key); chosen {
			return nil
		}
	}
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("folder of the database file: %w", err)
	}
	return os.WriteFile(filepath.Join(dataDir, ".gitignore"), []byte("*\n"), 0o600)
}
