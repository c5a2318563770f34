// Command notifications registers users, sends them a welcome email, notifies another
// service with a webhook, and sends a report of new users. User, email and webhook are
// stored in one transaction.
//
// It needs no configuration and no servers. It stores data in a SQLite file under .data,
// sends email to a built-in SMTP server that logs messages, and sends the webhook to its
// own route. In the directory examples:
//
//	go run ./notifications
//
//	curl -s localhost:1118/api/v1/signup -H 'Content-Type: application/json' -H 'Accept-Language: zh' \
//	     -d '{"username":"ada","email":"ada@example.org"}'
//
// Handle an email that is rejected permanently:
//
//	curl -s localhost:1118/api/v1/signup -H 'Content-Type: application/json' \
//	     -d '{"username":"eve","email":"eve@refused.example"}'
//	curl -s localhost:1118/api/v1/jobs/dead
//	curl -s -X POST localhost:1118/api/v1/jobs/ID/replay
//
// EMAIL_* configure a mail server, NOTIFICATIONS_HOOK_URL and NOTIFICATIONS_HOOK_SECRET
// another receiver. NOTIFICATIONS_REPORT_SPEC is the schedule of the report, and
// NOTIFICATIONS_REPORT_TO its recipient.
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

// dataFile is the default database file.
var dataFile = filepath.Join(".data", "notifications.db")

// reportSpec is the schedule of the report.
const reportSpec xenv.EnvKey = "NOTIFICATIONS_REPORT_SPEC"

func main() {
	reg := xreg.Register(context.Background(), nil, options()...)
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, tasks(reg.Init.Ctx)...)
}

// options returns the options of the application, which its tests use too.
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

// tasks returns the background tasks of the server process. With several replicas, a
// separate process may run them.
func tasks(ctx context.Context) []xmain.Task {
	report := cronx.NewJob(xenv.GetEnvString(reportSpec, ""), logic.Report,
		cronx.WithName("report"), cronx.WithSingleRun())
	return []xmain.Task{
		job.New(job.WithHandlers(notify.Handlers(ctx)...)),
		runner.New(runner.WithRegister(report)),
	}
}

// withDataDir creates the directory of the default database file if that file is used. It
// is a database option because options are evaluated after .env and the defaults were
// read.
func withDataDir(o *xdb.Options) {
	if o.Driver == "sqlite" && o.DSN == "" && xenv.GetEnvString("DATABASE_PATH", "") == dataFile {
		// the driver reports a missing directory
		_ = os.MkdirAll(filepath.Dir(dataFile), 0o700)
	}
}
