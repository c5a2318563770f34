package asynq_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xcache"
	cachedriver "github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/dbplugins/sqlite"
)

var errRollback = errors.New("rollback")

func TestOpen_Application(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	nodes := []xregnode.Node{{
		Key:  xctx.JobQueueKey,
		Node: job.Init(asynq.Open(asynq.WithQueue(p.queue))),
	}}
	reg, err := xreg.New(ctx, nodes,
		xoption.WithCache(xoptcache.WithDriver(redis.Name),
			xcache.WithConfig(func(c *cachedriver.Config) { *c = p.config })),
		xoption.WithDatabase(xoptdatabase.WithDriver(sqlite.Name, ":memory:"),
			xoptdatabase.WithAutoMigrate(&User{})),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithSnowflake(xsnowflake.WithDatacenterID(1), xsnowflake.WithNodeID(1)),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := signUp(reg.Init.Ctx, "Ann"); err != nil {
		t.Fatal(err)
	}
	err = xdb.Transaction(reg.Init.Ctx, func(ctx context.Context) error {
		return errors.Join(signUp(ctx, "Bob"), errRollback)
	})
	if !errors.Is(err, errRollback) {
		t.Fatal(err)
	}
	err = xdb.Transaction(reg.Init.Ctx, func(ctx context.Context) error {
		_, err := Welcome.Enqueue(ctx, WelcomeArgs{})
		return err
	})
	if !errors.Is(err, job.ErrTransaction) {
		t.Errorf("Enqueue in a transaction = %v, want %v", err, job.ErrTransaction)
	}
	jobs, err := job.MustGetQueue(reg.Init.Ctx).List(reg.Init.Ctx,
		job.Query{State: job.StateWaiting})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%d waiting jobs, %v; want 1", len(jobs), err)
	}
	got := make(chan WelcomeArgs, 1)
	handler := Welcome.Handle(func(_ context.Context, args WelcomeArgs) error {
		got <- args
		stop() // like SIGTERM
		return nil
	})
	if err := xmain.RunContext(ctx, reg, nil, nil, job.New(job.WithHandlers(handler))); err != nil {
		t.Errorf("RunContext = %v, want nil", err)
	}
	select {
	case args := <-got:
		if args.UserID != 1 {
			t.Errorf("arguments = %+v, want user 1", args)
		}
	default:
		t.Error("the job did not run")
	}
}
