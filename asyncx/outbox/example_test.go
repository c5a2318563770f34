package outbox_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// welcomeArgs are the arguments of welcome.
type welcomeArgs struct {
	Name string `json:"name"`
}

var welcome = job.NewKind[welcomeArgs]("user.welcome")

// An application uses its own database. This example uses one in memory.
func ExampleOpen() {
	ctx, err := quietContext()
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := xdb.Open(ctx, xdb.Options{
		Driver: "sqlite",
		Parts:  driver.Config{Source: xenv.Map{"DATABASE_PATH": ":memory:"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = xdb.Close(db) }()

	ctx = context.WithValue(ctx, xctx.DatabaseKey, db)
	engine, err := outbox.Open(outbox.WithTakeoverTimeout(10 * time.Second))(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := job.NewQueue(engine)
	ctx = context.WithValue(ctx, xctx.JobQueueKey, queue)

	err = xdb.Transaction(ctx, func(ctx context.Context) error {
		_, err := welcome.Enqueue(ctx, welcomeArgs{Name: "Ada"})
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	greet := func(_ context.Context, args welcomeArgs) error {
		fmt.Println("welcome,", args.Name)
		stop()
		return nil
	}
	err = job.Work(ctx, job.WithHandlers(welcome.Handle(greet)))
	fmt.Println(queue, err)
	// Output:
	// welcome, Ada
	// outbox on sqlite <nil>
}

// quietContext returns a context whose log is discarded.
func quietContext() (context.Context, error) {
	engine, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	return xlog.NewContext(context.Background(), engine), err
}

// The queue is a node of the application, which opens its database first.
func ExampleOpen_node() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
	reg, err := xreg.New(ctx, nodes,
		xoption.WithDatabase(xoptdatabase.WithDriver("sqlite", ":memory:")),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(job.MustGetQueue(reg.Init.Ctx))
	stop() // like SIGTERM
	fmt.Println(xmain.RunContext(ctx, reg, nil, nil))
	// Output:
	// outbox on sqlite
	// <nil>
}
