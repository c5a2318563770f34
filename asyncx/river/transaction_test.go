package river_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
)

type user struct {
	ID   int64
	Name string
}

type welcomeArgs struct{ Name string }

var welcome = job.NewKind[welcomeArgs]("user.welcome")

// signUp stores a user and a job in one transaction.
func signUp(ctx context.Context, name string) error {
	return xdb.Transaction(ctx, func(ctx context.Context) error {
		if err := xdb.MustGetDB(ctx).Create(&user{Name: name}).Error; err != nil {
			return err
		}
		_, err := welcome.Enqueue(ctx, welcomeArgs{Name: name})
		return err
	})
}

func TestEngine_Insert(t *testing.T) {
	t.Run("joins the transaction of its context", func(t *testing.T) {
		engine, ctx := newReplica(t)
		must(t, xdb.MustGetDB(ctx).AutoMigrate(&user{}))
		ctx = context.WithValue(ctx, xctx.JobQueueKey, job.NewQueue(engine))
		errUndo := errors.New("undo")

		must(t, signUp(ctx, "committed"))
		err := xdb.Transaction(ctx, func(ctx context.Context) error {
			return errors.Join(signUp(ctx, "rolled back"), errUndo)
		})
		if !errors.Is(err, errUndo) {
			t.Fatal(err)
		}
		must(t, xdb.Transaction(ctx, func(ctx context.Context) error {
			err := xdb.Transaction(ctx, func(ctx context.Context) error {
				return errors.Join(signUp(ctx, "savepoint rolled back"), errUndo)
			})
			if !errors.Is(err, errUndo) {
				t.Error(err)
			}
			return signUp(ctx, "after the savepoint")
		}))

		var rows []string
		must(t, xdb.MustGetDB(ctx).Model(&user{}).Order("id").Pluck("name", &rows).Error)
		want := []string{"committed", "after the savepoint"}
		got := make(chan string, 10)
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		must(t, job.Work(ctx, job.WithConcurrency(1),
			job.WithHandlers(welcome.Handle(func(_ context.Context, args welcomeArgs) error {
				if got <- args.Name; len(got) == len(want) {
					cancel()
				}
				return nil
			}))))
		for i, name := range want {
			if rows[i] != name || <-got != name || len(rows) != len(want) {
				t.Errorf("users = %v, want %v with 1 job each", rows, want)
			}
		}
		waiting, err := engine.List(context.WithoutCancel(ctx),
			driver.Query{State: driver.Waiting, Limit: 10})
		if err != nil || len(waiting) != 0 {
			t.Errorf("%d waiting jobs, %v; want 0", len(waiting), err)
		}
	})

	t.Run("rejects a transaction of another database", func(t *testing.T) {
		_, c := testServer(t)
		_, db := application(t, newDatabase(t, c))
		engine, err := river.Open(river.WithDB(db))(t.Context())
		must(t, err)
		other, _ := application(t, c)
		err = xdb.Transaction(other, func(ctx context.Context) error {
			jobs, _ := newJobs(quickKind, 1)
			return engine.Insert(ctx, jobs)
		})
		if !errors.Is(err, job.ErrTransaction) {
			t.Errorf("Insert = %v, want %v", err, job.ErrTransaction)
		}
	})
}
