// Command grpc keeps users over HTTP and gRPC, from one process and one logic.
//
//	grpc                     serve both
//	grpc app create NAME     make an application that may call, and print its id and its secret, once
//
// It runs without any configuration: everything is in a SQLite file under .data. The
// environment, or a .env file, chooses another backend that plugins.go imports.
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
	"github.com/plinthgo/plinth/examples/grpc/internal/handler"
	"github.com/plinthgo/plinth/examples/grpc/internal/service"
	"github.com/plinthgo/plinth/grpcx/runner"
)

// dataFile is the database where nobody says otherwise.
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

// options describe the application and its HTTP side; its tests start the same.
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
		xoption.WithRoute(handler.Route),
		xoption.WithHealth(),
	}
}

// grpcOptions describe the gRPC side. PLINTH_SHUTDOWN_TIMEOUT bounds the graceful stop as
// well, and is shorter by default.
func grpcOptions() []runner.Option {
	return []runner.Option{
		runner.WithRegisterService(service.Register),
		runner.WithGracefulStopTimeout(30 * time.Second),
	}
}

// withDataDir creates the folder of the default database file if that file is used. It is
// an option of the database because options are evaluated when .env and the defaults have
// been read.
func withDataDir(o *xdb.Options) {
	if o.Driver == "sqlite" && o.DSN == "" && xenv.GetEnvString("DATABASE_PATH", "") == dataFile {
		// the driver reports a folder that is missing
		_ = os.MkdirAll(filepath.Dir(dataFile), 0o700)
	}
}
