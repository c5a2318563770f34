package job_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	_ "github.com/plinthgo/plinth/dbplugins/sqlite"
)

// User is a registered user.
type User struct {
	ID   int64 `gorm:"primaryKey"`
	Name string
}

// WelcomeArgs are the arguments of Welcome.
type WelcomeArgs struct {
	UserID int64 `json:"user_id"`
}

// Welcome sends a welcome mail.
var Welcome = job.NewKind[WelcomeArgs]("user.welcome")

// signUp stores a user and its job in one transaction.
func signUp(ctx context.Context, name string) error {
	return xdb.Transaction(ctx, func(ctx context.Context) error {
		user := User{Name: name}
		if err := xdb.MustGetDB(ctx).Create(&user).Error; err != nil {
			return err
		}
		_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID})
		return err
	})
}

func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
	reg, err := xreg.New(ctx, nodes,
		xoption.WithDatabase(xoptdatabase.WithDriver("sqlite", ":memory:"),
			xoptdatabase.WithAutoMigrate(&User{})),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
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
		defer stop() // like SIGTERM
		var user User
		if err := xdb.MustGetDB(ctx).First(&user, args.UserID).Error; err != nil {
			return err
		}
		fmt.Println("welcome", user.Name)
		return nil
	}
	err = xmain.RunContext(ctx, reg, nil, nil,
		job.New(job.WithHandlers(Welcome.Handle(sendWelcome))))
	fmt.Println(err)
	// Output:
	// welcome Ann
	// <nil>
}

// Charge contains the arguments of a charge.
type Charge struct {
	OrderID string `json:"order_id"`
}

func ExampleNewKind() {
	charge := job.NewKind[Charge]("order.charge",
		job.WithPriority(job.PriorityHigh),
		job.WithTimeout(10*time.Second),
		job.WithMaxAttempts(5),
		job.WithBackoff(backoff.Schedule(time.Second, time.Minute, time.Hour, 12*time.Hour)),
	)
	fmt.Println(charge.Name())
	// Output: order.charge
}

// Errors of the payment provider.
var (
	errBusy    = errors.New("too many requests")
	errRefused = errors.New("the card was refused")
)

// pay charges an order. The key makes repeated calls idempotent.
func pay(_ context.Context, _, key string) error {
	if key == "" {
		return errRefused
	}
	return nil
}

func ExampleKind_Handle() {
	charge := job.NewKind[Charge]("order.charge")
	handler := charge.Handle(func(ctx context.Context, args Charge) error {
		info, _ := job.InfoFrom(ctx)
		err := pay(ctx, args.OrderID, info.ID) // the ID is the same for each attempt
		switch {
		case errors.Is(err, errRefused):
			return job.Dead(err) // do not retry
		case errors.Is(err, errBusy):
			return job.RetryAfter(err, time.Minute)
		}
		return err
	})
	task := job.New(job.WithHandlers(handler), job.WithConcurrency(4)) // for xmain.Runner
	fmt.Println(task != nil)
	// Output: true
}

func ExampleKind_Enqueue() {
	ctx := context.Background()
	_, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: 1}, job.WithDelay(time.Hour),
		job.WithJobPriority(job.PriorityLow))
	fmt.Println(err != nil) // the context has no queue
	// Output: true
}

// replayAll replays the dead jobs of a kind.
func replayAll(ctx context.Context, kind string) error {
	queue := job.MustGetQueue(ctx)
	for after := ""; ; {
		page, err := queue.List(ctx,
			job.Query{State: job.StateDead, Kind: kind, After: after, Limit: 100})
		if err != nil || len(page) == 0 {
			return err
		}
		for _, r := range page {
			// another process replayed it first
			if err := queue.Replay(ctx, r.ID); err != nil && !errors.Is(err, job.ErrState) {
				return err
			}
		}
		after = page[len(page)-1].ID
	}
}
