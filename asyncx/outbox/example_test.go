package outbox_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xOutbox "github.com/plinthgo/plinth/asyncx/outbox"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// welcomeArgs are the arguments of welcome.
type welcomeArgs struct {
	Name string `json:"name"`
}

var welcome = xJob.NewKind[welcomeArgs]("user.welcome")

// The database is the application's; here one in memory.
func ExampleOpen() {
	ctx, err := quietly()
	if err != nil {
		fmt.Println(err)
		return
	}
	db, err := xDB.Open(ctx, xDB.Options{Driver: "sqlite", Parts: driver.Config{Path: ":memory:"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = xDB.Close(db) }()

	ctx = context.WithValue(ctx, xCtx.DatabaseKey, db)
	engine, err := xOutbox.Open(xOutbox.WithTakeOver(10 * time.Second))(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	queue := xJob.NewQueue(engine)
	ctx = context.WithValue(ctx, xCtx.JobQueueKey, queue)

	err = xDB.Transaction(ctx, func(ctx context.Context) error {
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
	err = xJob.Work(ctx, xJob.WithQueue(queue), xJob.WithHandlers(welcome.Handle(greet)))
	fmt.Println(queue, err)
	// Output:
	// welcome, Ada
	// outbox on sqlite <nil>
}

// quietly returns a context whose log lines go nowhere.
func quietly() (context.Context, error) {
	engine, err := xLog.New(xLog.Config{Level: slog.LevelError, Writer: io.Discard})
	return xLog.NewContext(context.Background(), engine), err
}

// The queue is a node of the application, which has opened its database before.
func ExampleOpen_node() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xOutbox.Open())}}
	reg, err := xReg.New(ctx, nodes,
		xOption.WithDatabase(xOptDatabase.WithDriver("sqlite", ":memory:")),
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(xJob.MustGetQueue(reg.Init.Ctx))
	stop() // as SIGTERM would
	fmt.Println(xMain.RunContext(ctx, reg, nil, nil))
	// Output:
	// outbox on sqlite
	// <nil>
}
