package asynq_test

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/asyncx/asynq"
	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb/transaction"
)

func TestOpen(t *testing.T) {
	t.Run("names the options that set a client", func(t *testing.T) {
		_, err := asynq.Open()(t.Context())
		if err == nil {
			t.Fatal("Open = nil without a client")
		}
		for _, want := range []string{
			"xoption.WithCache", "NOSQL_DRIVER=redis", "cacheplugins/redis", "WithClient",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %q, want it to name %s", err, want)
			}
		}
	})

	t.Run("reports every invalid option", func(t *testing.T) {
		_, err := asynq.Open(asynq.WithClient(nil), asynq.WithQueue("a{b}"),
			asynq.WithRetention(time.Millisecond))(t.Context())
		if !errors.Is(err, job.ErrOption) {
			t.Fatalf("Open = %v, want %v", err, job.ErrOption)
		}
		for _, want := range []string{
			"WithClient", `WithQueue: invalid name "a{b}"`, "WithRetention: 1ms",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error = %q, want it to name %s", err, want)
			}
		}
	})

	t.Run("returns errors without the password", func(t *testing.T) {
		client := goredis.NewClient(&goredis.Options{
			Addr: "127.0.0.1:1", Password: "s3cret", DialerRetries: 1,
		})
		defer func() { _ = client.Close() }()
		_, err := asynq.Open(asynq.WithClient(client))(t.Context())
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Open = %v, want an error without the password", err)
		}
		c := onRedis(t).config
		wrong := goredis.NewClient(&goredis.Options{
			Addr:     net.JoinHostPort(c.Host, strconv.Itoa(c.Port)),
			Username: "unknown", Password: "s3cret",
		})
		defer func() { _ = wrong.Close() }()
		_, err = asynq.Open(asynq.WithClient(wrong))(t.Context())
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("Open = %v, want an error without the password", err)
		}
	})
}

func TestWithQueue(t *testing.T) {
	t.Run("uses the prefix or the application name by default", func(t *testing.T) {
		p := onRedis(t)
		for _, tc := range []struct{ name, prefix, app, want string }{
			{
				name: "prefix", prefix: p.queue + "-prefix:", app: "x",
				want: p.queue + "-prefix:" + testKind + ":3",
			},
			{name: "application", app: p.queue + " app", want: p.queue + "-app:" + testKind + ":3"},
			{name: "braces", prefix: p.queue + "{b}", want: p.queue + "-b-:" + testKind + ":3"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Setenv(string(xenv.NoSqlPrefix), tc.prefix)
				t.Setenv(string(xenv.AppName), tc.app)
				ctx, client := p.app(t)
				e, err := asynq.Open()(ctx)
				if err != nil {
					t.Fatal(err)
				}
				j := newJobs(1)
				if err := e.Insert(ctx, j); err != nil {
					t.Fatal(err)
				}
				if !client.SIsMember(ctx, "asynq:queues", tc.want).Val() {
					t.Errorf("queues = %v, want %s among them",
						client.SMembers(ctx, "asynq:queues").Val(), tc.want)
				}
				if err := e.Delete(ctx, j[0].ID); err != nil {
					t.Error(err)
				}
				client.SRem(ctx, "asynq:queues", tc.want)
			})
		}
	})

	t.Run("isolates services", func(t *testing.T) {
		p := onRedis(t)
		ctx, e, _ := p.open(t)
		similar := p
		similar.queue += ":" + testKind
		for _, other := range []testQueue{onRedis(t), similar} {
			otherCtx, o, _ := other.open(t)
			j := newJobs(1)[0]
			if err := o.Insert(otherCtx, []driver.Job{j}); err != nil {
				t.Fatal(err)
			}
			w, started := collect(testKind)
			stop := work(t, ctx, e, w)
			wantIdle(t, started, "although another service stored the job")
			stop()
			if !deleted(ctx, e, j.ID) {
				t.Error("Get returned a job of another service")
			}
			records, err := e.List(ctx, driver.Query{State: driver.Waiting, Limit: 10})
			if err != nil || len(records) > 0 {
				t.Errorf("List = %d records, %v; want 0", len(records), err)
			}
			if err := o.Delete(otherCtx, j.ID); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestEngine_Transaction(t *testing.T) {
	t.Parallel()
	p := onRedis(t)
	ctx, e, _ := p.open(t)
	k := job.NewKind[string](testKind)
	ctx = context.WithValue(ctx, xctx.JobQueueKey, job.NewQueue(e))
	tx, end := transaction.Begin(ctx, "a database")
	if _, err := k.Enqueue(tx, "x"); !errors.Is(err, job.ErrTransaction) {
		t.Errorf("Enqueue = %v, want %v", err, job.ErrTransaction)
	}
	var enqueueErr error
	transaction.OnCommit(tx, func(ctx context.Context) { _, enqueueErr = k.Enqueue(ctx, "y") })
	end(true)
	if records, err := e.List(ctx, driver.Query{State: driver.Waiting, Limit: 10}); err != nil ||
		enqueueErr != nil || len(records) != 1 {
		t.Errorf("%d waiting jobs after the commit (%v, %v), want 1", len(records), err, enqueueErr)
	}
}
