package river_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// TestOpen_Application runs the example of the documentation page in an application.
func TestOpen_Application(t *testing.T) {
	_, c := testServer(t)
	dsn, err := postgres.Driver{}.DSN(newDatabase(t, c))
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(river.Open())}}
	reg, err := xreg.New(ctx, nodes,
		xoption.WithDatabase(xoptdatabase.WithDriver(postgres.Name, dsn),
			xoptdatabase.WithAutoMigrate(&user{})),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	must(t, err)
	must(t, signUp(reg.Init.Ctx, "Ann"))
	greeted := ""
	sendWelcome := func(ctx context.Context, args welcomeArgs) error {
		defer stop() // like SIGTERM
		greeted = args.Name
		return xdb.MustGetDB(ctx).First(&user{}, "name = ?", args.Name).Error
	}
	must(t, xmain.RunContext(ctx, reg, nil, nil,
		job.New(job.WithHandlers(welcome.Handle(sendWelcome)))))
	if greeted != "Ann" {
		t.Errorf("greeted %q, want Ann", greeted)
	}
}
