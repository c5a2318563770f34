// Command notifications signs users up, greets them by mail, tells another service by a webhook, and counts them for the
// team. User, mail and webhook are stored in one transaction.
//
// It runs without any configuration and without any server: everything is in a SQLite file under .data, mail goes to an
// SMTP server of its own that logs what it gets, and the webhook to a route of its own. In the folder examples:
//
//	go run ./notifications
//
//	curl -s localhost:1118/api/v1/signup -H 'Content-Type: application/json' -H 'Accept-Language: zh' \
//	     -d '{"username":"ada","email":"ada@example.org"}'
//
// A mail that is refused for good, and what an operator does about it:
//
//	curl -s localhost:1118/api/v1/signup -H 'Content-Type: application/json' \
//	     -d '{"username":"eve","email":"eve@refused.example"}'
//	curl -s localhost:1118/api/v1/jobs/dead
//	curl -s -X POST localhost:1118/api/v1/jobs/ID/replay
//
// EMAIL_* lead to a real mail server, NOTIFICATIONS_HOOK_URL and NOTIFICATIONS_HOOK_SECRET to another receiver;
// NOTIFICATIONS_REPORT_SPEC says when the team gets its mail, NOTIFICATIONS_REPORT_TO where.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xCron "github.com/plinthgo/plinth/cronx"
	xCronRunner "github.com/plinthgo/plinth/cronx/runner"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/examples/notifications/internal/route"
)

// dataFile is the database where nobody says otherwise.
var dataFile = filepath.Join(".data", "notifications.db")

// reportSpec says when the team gets its mail.
const reportSpec xEnv.EnvKey = "NOTIFICATIONS_REPORT_SPEC"

func main() {
	reg := xReg.Register(context.Background(), nil, options()...)
	xMain.Runner(reg, xLog.WithName(xLog.NamedMAIN), nil, tasks(reg.Init.Ctx)...)
}

// options describe the application; its tests start the same.
func options() []xOption.Option {
	return []xOption.Option{
		xOption.WithEnvDefaults(map[xEnv.EnvKey]string{
			xEnv.AppName:        "notifications",
			xEnv.DatabaseDriver: "sqlite",
			xEnv.DatabasePath:   dataFile,
			xEnv.NoSqlDriver:    "memory",
			reportSpec:          "* * * * *",
		}),
		xOption.WithRequiredDatabase(xOptDatabase.FromEnv(), xOptDatabase.WithAutoMigrate(&entity.User{})),
		withDataDir,
		xOption.WithCache(xOptCache.FromEnv()),
		xOption.WithNodes(notify.Nodes()...),
		xOption.WithRoute(route.Register),
		xOption.WithHealth(),
	}
}

// tasks run beside the server. A service of several replicas may run them in a process of its own.
func tasks(ctx context.Context) []xMain.Task {
	report := xCron.NewJob(xEnv.GetEnvString(reportSpec, ""), logic.Report, xCron.WithName("report"), xCron.WithSingleRun())
	return []xMain.Task{
		xJob.New(xJob.WithHandlers(notify.Handlers(ctx)...)),
		xCronRunner.New(xCronRunner.WithRegister(report)),
	}
}

// withDataDir makes the folder of the database file where that file is used. It is a set-up because only then .env and
// defaults have been read.
func withDataDir(p *xOption.Plan) {
	xOption.WithSetUp(func(context.Context) error {
		config, err := xOptDatabase.Build(p.Database...)
		if err != nil {
			return nil //nolint:nilerr // the check of the database reports it
		}
		if o := config.Options(); o.Driver != "sqlite" || o.DSN != "" || o.Parts.Path != dataFile {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(dataFile), 0o700); err != nil {
			return fmt.Errorf("folder of the database file: %w", err)
		}
		return nil
	})(p)
}
