// Command notifications signs users up, greets them by mail, tells another service by a
// webhook, and counts them for the team. User, mail and webhook are stored in one
// transaction.
//
// It runs without any configuration and without any server: everything is in a SQLite
// file under .data, mail goes to an SMTP server of its own that logs what it gets, and
// the webhook to a route of its own. In the folder examples:
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
// EMAIL_* lead to a real mail server, NOTIFICATIONS_HOOK_URL and
// NOTIFICATIONS_HOOK_SECRET to another receiver; NOTIFICATIONS_REPORT_SPEC says when the
// team gets its mail, NOTIFICATIONS_REPORT_TO where.
package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/examples/notifications/internal/logic"
	"github.com/plinthgo/plinth/examples/notifications/internal/notify"
	"github.com/plinthgo/plinth/examples/notifications/internal/route"
)

// dataFile is the database where nobody says otherwise.
var dataFile = filepath.Join(".data", "notifications.db")

// reportSpec says when the team gets its mail.
const reportSpec xenv.EnvKey = "NOTIFICATIONS_REPORT_SPEC"

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, tasks(reg.Init.Ctx)...)
}

// options describe the application; its tests start the same.
func options() []xoption.Option {
	return []xoption.Option{
		xoption.WithEnvDefaults(map[xenv.EnvKey]string{
			xenv.AppName:        "notifications",
			xenv.DatabaseDriver: "sqlite",
			"DATABASE_PATH":     dataFile,
			xenv.NoSqlDriver:    "memory",
			reportSpec:          "* * * * *",
		}),
		xoption.WithRequiredDatabase(xoptdatabase.FromEnv(), withDataDir,
			xoptdatabase.WithAutoMigrate(&entity.User{})),
		xoption.WithCache(xoptcache.FromEnv()),
		xoption.WithNodes(notify.Nodes()...),
		xoption.WithRoute(route.Register),
		xoption.WithHealth(),
	}
}

// tasks run beside the server. A service of several replicas may run them in a process of
// its own.
func tasks(ctx context.Context) []xmain.Task {
	report := cronx.NewJob(xenv.GetEnvString(reportSpec, ""), logic.Report,
		cronx.WithName("report"), cronx.WithSingleRun())
	return []xmain.Task{
		job.New(job.WithHandlers(notify.Handlers(ctx)...)),
		runner.New(runner.WithRegister(report)),
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
