package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	xBackoff "github.com/plinthgo/plinth/asyncx/backoff"
	xJob "github.com/plinthgo/plinth/asyncx/job"
	xOutbox "github.com/plinthgo/plinth/asyncx/outbox"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// User is somebody who has signed up.
type User struct {
	ID   int64 `gorm:"primaryKey"`
	Name string
}

// WelcomeArgs are the arguments of Welcome.
type WelcomeArgs struct {
	UserID int64 `json:"user_id"`
}

// Welcome sends a user the first mail.
var Welcome = xJob.NewKind[WelcomeArgs]("user.welcome")

// signUp stores a user and the job that belongs to it: both or neither.
func signUp(ctx context.Context, name string) error {
	return xDB.Transaction(ctx, func(ctx context.Context) error {
		user := User{Name: name}
		if err := xDB.MustGetDB(ctx).Create(&user).Error; err != nil {
			return err
		}
		_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID})
		return err
	})
}

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xOutbox.Open())}}
	reg, err := xReg.New(ctx, nodes,
		xOption.WithDatabase(xOptDatabase.WithDriver("sqlite", ":memory:"), xOptDatabase.WithAutoMigrate(&User{})),
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := signUp(reg.Init.Ctx, "Ann"); err != nil {
		fmt.Println(err)
		return
	}
	sendWelcome := func(ctx context.Context, args WelcomeArgs) error {
		defer stop() // as SIGTERM would
		var user User
		if err := xDB.MustGetDB(ctx).First(&user, args.UserID).Error; err != nil {
			return err
		}
		fmt.Println("welcome", user.Name)
		return nil
	}
	err = xMain.RunContext(ctx, reg, nil, nil, xJob.New(xJob.WithHandlers(Welcome.Handle(sendWelcome))))
	fmt.Println(err)
	// Output:
	// welcome Ann
	// <nil>
}

// Charge is what charge is called with.
type Charge struct {
	OrderID string `json:"order_id"`
}

func ExampleNewKind() {
	charge := xJob.NewKind[Charge]("order.charge",
		xJob.WithPriority(xJob.PriorityHigh),
		xJob.WithTimeout(10*time.Second),
		xJob.WithMaxAttempts(5),
		xJob.WithBackoff(xBackoff.Schedule(time.Second, time.Minute, time.Hour, 12*time.Hour)),
	)
	fmt.Println(charge.Name())
	// Output: order.charge
}

// The errors of somebody who takes payments.
var (
	errBusy    = errors.New("too many requests")
	errRefused = errors.New("the card was refused")
)

// pay takes the payment for an order once, however often it is called with the same key.
func pay(_ context.Context, _, key string) error {
	if key == "" {
		return errRefused
	}
	return nil
}

func ExampleKind_Handle() {
	charge := xJob.NewKind[Charge]("order.charge")
	handler := charge.Handle(func(ctx context.Context, args Charge) error {
		info, _ := xJob.InfoFrom(ctx)
		err := pay(ctx, args.OrderID, info.ID) // a repeat has the same id
		switch {
		case errors.Is(err, errRefused):
			return xJob.Dead(err) // trying again is useless
		case errors.Is(err, errBusy):
			return xJob.RetryAfter(err, time.Minute)
		}
		return err
	})
	task := xJob.New(xJob.WithHandlers(handler), xJob.WithConcurrency(4)) // for xMain.Runner
	fmt.Println(task != nil)
	// Output: true
}

func ExampleKind_Enqueue() {
	ctx := context.Background()
	_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: 1}, xJob.WithDelay(time.Hour), xJob.WithJobPriority(xJob.PriorityLow))
	fmt.Println(err != nil) // there is no queue in this context
	// Output: true
}

// replayAll lets the dead jobs of a kind run again.
func replayAll(ctx context.Context, kind string) error {
	queue := xJob.MustGetQueue(ctx)
	for after := ""; ; {
		page, err := queue.List(ctx, xJob.Query{State: xJob.StateDead, Kind: kind, After: after, Limit: 100})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			if err := queue.Replay(ctx, r.ID); err != nil && !errors.Is(err, xJob.ErrState) { // somebody else was faster
				return err
			}
		}
		after = page[len(page)-1].ID
	}
}
