package asynq_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// WelcomeArgs are the arguments of Welcome.
type WelcomeArgs struct {
	UserID int64 `json:"user_id"`
}

// Welcome sends a welcome mail.
var Welcome = job.NewKind[WelcomeArgs]("user.welcome")

func sendWelcome(_ context.Context, args WelcomeArgs) error {
	return job.RetryAfter(fmt.Errorf("no mail to user %d yet", args.UserID), time.Minute)
}

// User is a registered user.
type User struct {
	ID   int64 `gorm:"primaryKey"`
	Name string
}

// signUp stores a user, and then a job. A crash between them loses the job.
func signUp(ctx context.Context, name string) error {
	return xdb.Transaction(ctx, func(ctx context.Context) error {
		user := User{Name: name}
		if err := xdb.MustGetDB(ctx).Create(&user).Error; err != nil {
			return err
		}
		xdb.OnCommit(ctx, func(ctx context.Context) {
			if _, err := Welcome.Enqueue(ctx, WelcomeArgs{UserID: user.ID}); err != nil {
				xlog.WithName(xlog.NamedTASK).Error(ctx, "the welcome is not stored",
					slog.Any("error", err))
			}
		})
		return nil
	})
}

func ExampleOpen() { //nolint:testableexamples // it serves until it is stopped
	ctx := context.Background()
	log := xlog.WithName(xlog.NamedMAIN)

	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(asynq.Open())}}
	reg := xreg.Register(ctx, nodes, xoption.WithCache(xoptcache.FromEnv()))
	xmain.Runner(reg, log, nil, job.New(job.WithHandlers(Welcome.Handle(sendWelcome))))
}

func ExampleWithClient() { //nolint:testableexamples // it needs a server
	client := goredis.NewClient(&goredis.Options{Addr: "jobs.example.com:6379"})
	node := job.Init(asynq.Open(asynq.WithClient(client), asynq.WithQueue("shop"),
		asynq.WithRetention(24*time.Hour)))
	_ = xregnode.Node{Key: xctx.JobQueueKey, Node: node}
}
