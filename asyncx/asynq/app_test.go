package asynq_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	xAsynq "github.com/plinthgo/plinth/asyncx/asynq"
	xJob "github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/cacheplugins/redis"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xCache "github.com/plinthgo/plinth/core/major/xcache/driver"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

var errRollback = errors.New("roll back")

func TestAnApplicationDoesItsJobsWithTheRedisOfItsCache(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xAsynq.Open(xAsynq.WithQueue(p.queue)))}}
	reg, err := xReg.New(ctx, nodes,
		xOption.WithCache(xOptCache.WithDriver(redis.Name), xOptCache.WithConfig(func(c *xCache.Config) { *c = p.config })),
		xOption.WithDatabase(xOptDatabase.WithDriver(sqlite.Name, ":memory:"), xOptDatabase.WithAutoMigrate(&User{})),
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithSnowflake(xSnowflake.WithDatacenterID(1), xSnowflake.WithNodeID(1)), // leases of no concern here
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := signUp(reg.Init.Ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	err = xDB.Transaction(reg.Init.Ctx, func(ctx context.Context) error {
		return errors.Join(signUp(ctx, "Bob"), errRollback)
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	err = xDB.Transaction(reg.Init.Ctx, func(ctx context.Context) error {
		_, err := Welcome.Enqueue(ctx, WelcomeArgs{})
		return err
	})
	if !errors.Is(err, xJob.ErrTransaction) {
		t.Errorf("Enqueue within a transaction = %v, want %v", err, xJob.ErrTransaction)
	}
	jobs, err := xJob.MustGetQueue(reg.Init.Ctx).List(reg.Init.Ctx, xJob.Query{State: xJob.StateWaiting})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs wait, %v; want 1", len(jobs), err)
	}
	got := make(chan WelcomeArgs, 1)
	handler := Welcome.Handle(func(_ context.Context, args WelcomeArgs) error {
		got <- args
		stop() // as SIGTERM would
		return nil
	})
	if err := xMain.RunContext(ctx, reg, nil, nil, xJob.New(xJob.WithHandlers(handler))); err != nil {
		t.Errorf("RunContext = %v, want nil", err)
	}
	select {
	case args := <-got:
		if args.UserID != 1 {
			t.Errorf("the arguments are %+v, want user 1", args)
		}
	default:
		t.Error("the job did not run")
	}
}
