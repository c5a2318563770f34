package river_test

import (
	"context"
	"io"
	"testing"
	"time"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xRiver "github.com/plinthgo/plinth/asyncx/river"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/dbplugins/postgres"
)

// The snippet of the page, in an application that runs and stops.
func TestAnApplicationStoresAJobAndDoesIt(t *testing.T) {
	_, c := find(t)
	dsn, err := postgres.Driver{}.DSN(newDatabase(t, c))
	must(t, err)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xRiver.Open())}}
	reg, err := xReg.New(ctx, nodes,
		xOption.WithDatabase(xOptDatabase.WithDriver(postgres.Name, dsn), xOptDatabase.WithAutoMigrate(&user{})),
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	must(t, err)
	must(t, signUp(reg.Init.Ctx, "Ann"))
	greeted := ""
	sendWelcome := func(ctx context.Context, args welcomeArgs) error {
		defer stop() // as SIGTERM would
		greeted = args.Name
		return xDB.MustGetDB(ctx).First(&user{}, "name = ?", args.Name).Error
	}
	must(t, xMain.RunContext(ctx, reg, nil, nil, xJob.New(xJob.WithHandlers(welcome.Handle(sendWelcome)))))
	if greeted != "Ann" {
		t.Errorf("greeted %q, want Ann", greeted)
	}
}
