package asynq_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	goredis "github.com/redis/go-redis/v9"

	xAsynq "github.com/plinthgo/plinth/asyncx/asynq"
	xJob "github.com/plinthgo/plinth/asyncx/job"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// WelcomeArgs are the arguments of Welcome.
type WelcomeArgs struct {
	UserID int64 `json:"user_id"`
}

// Welcome sends a user the first mail.
var Welcome = xJob.NewKind[WelcomeArgs]("user.welcome")

func sendWelcome(_ context.Context, args WelcomeArgs) error {
	return xJob.RetryAfter(fmt.Errorf("no mail to user %d yet", args.UserID), time.Minute)
}

// User is somebody who has signed up.
type User struct {
	ID   int64 `gorm:"primaryKey"`
	Name string
}

// signUp stores a user, and a job once there is the user. A crash between the two loses the job.
func signUp(ctx context.Context, name string) error {
	return xDB.Transaction(ctx, func(ctx context.Context) error {
		user := User{Name: name}
		if err := xDB.MustGetDB(ctx).Create(&user).Error; err != nil {
			return err
		}
		xDB.OnCommit(ctx, func(ctx context.Context) {
			if _, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID}); err != nil {
				xLog.WithName(xLog.NamedTASK).Error(ctx, "the welcome is not stored", slog.Any("error", err))
			}
		})
		return nil
	})
}

func ExampleOpen() { //nolint:testableexamples // it serves until it is stopped
	ctx := context.Background()
	log := xLog.WithName(xLog.NamedMAIN)

	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xAsynq.Open())}}
	reg := xReg.Register(ctx, nodes, xOption.WithCache(xOptCache.FromEnv()))
	xMain.Runner(reg, log, nil, xJob.New(xJob.WithHandlers(Welcome.Handle(sendWelcome))))
}

func ExampleWithClient() { //nolint:testableexamples // it needs a server
	client := goredis.NewClient(&goredis.Options{Addr: "jobs.example.com:6379"})
	node := xJob.Init(xAsynq.Open(xAsynq.WithClient(client), xAsynq.WithQueue("shop"), xAsynq.WithRetention(24*time.Hour)))
	_ = xRegNode.RegNodeList{Key: xCtx.JobQueueKey, Node: node}
}
