// Command grpc stores users over HTTP and gRPC in one process.
//
//	grpc                     serve both
//	grpc app create NAME     create a client application and print its ID and secret
//
// It needs no configuration and stores its data in a SQLite file under .data. The
// environment or a .env file can select another database imported by plugins.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/feed"
	"github.com/plinthgo/plinth/examples/grpc/internal/route"
	"github.com/plinthgo/plinth/examples/grpc/internal/service"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// dataFile is the default database file.
var dataFile = filepath.Join(".data", "users.db")

func main() {
	if len(os.Args) > 1 {
		err := command(context.Background(), os.Args[1:], os.Stdout)
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exitCode(err))
	}
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, runner.New(grpcOptions()...))
}

func exitCode(err error) int {
	switch {
	case errors.Is(err, errUsage):
		return 2
	case err != nil:
		return 1
	}
	return 0
}

// options returns the options of the application, shared with its tests.
func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName:        "users",
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     dataFile,
		}),
		xoption.WithRequiredDatabase(xoptdatabase.FromEnv(), withDataDir,
			xoptdatabase.WithAutoMigrate(&entity.User{}, &entity.App{})),
		xoption.WithNodes(xregnode.Node{Key: feed.Key, Node: feed.Start}),
		xoption.WithRoute(route.Register),
		xoption.WithHealth(),
	}
}

// grpcOptions returns the options of the gRPC server. PLINTH_SHUTDOWN_TIMEOUT, which is
// shorter by default, limits the graceful stop too.
func grpcOptions() []runner.Option {
	return []runner.Option{
		runner.WithRegisterService(service.Register),
		runner.WithGracefulStopTimeout(30 * time.Second),
	}
}

// withDataDir creates the directory of the default database file if that file is used. It
// is a database option because options run after .env and the defaults are loaded.
func withDataDir(o *xdb.Options) {
	if o.Driver == "sqlite" && o.DSN == "" && xenv.GetEnvString("DATABASE_PATH", "") == dataFile {
		// the driver reports a missing directory
		_ = os.MkdirAll(filepath.Dir(dataFile), 0o700)
	}
}
