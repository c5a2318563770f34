//go:build unix

package outbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"gorm.io/gorm"

	xBackoff "github.com/plinthgo/plinth/asyncx/backoff"
	xJob "github.com/plinthgo/plinth/asyncx/job"
	job "github.com/plinthgo/plinth/asyncx/job/driver"
	xOutbox "github.com/plinthgo/plinth/asyncx/outbox"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
)

// childKey is the variable that makes this program a child of a test.
const childKey xEnv.EnvKey = "PLINTH_OUTBOX_CHILD"

// task is what a child is to do.
type task struct {
	Role     string
	Driver   string
	DSN      string
	TakeOver time.Duration
	Step     string // at which it kills itself
	First    int    // number of its first order
	Deaf     bool   // its handler does not look at its context
}

// order is a business row, and effect what a handler has done for it.
type (
	order struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false"`
	}
	effect struct {
		JobID   string `gorm:"primaryKey;size:36"`
		Attempt int    `gorm:"primaryKey;autoIncrement:false"`
		OrderID int64
		Ended   bool // with success
	}
)

// shipArgs are the arguments of ship.
type shipArgs struct {
	Order int64 `json:"order"`
}

var (
	ship = xJob.NewKind[shipArgs]("order.ship", xJob.WithMaxAttempts(1000), xJob.WithBackoff(xBackoff.Constant(10*time.Millisecond)))
	// poison kills its process, every time.
	poison = xJob.NewKind[shipArgs]("order.poison", xJob.WithMaxAttempts(3))
)

// steps are where a process dies, in the order in which a job comes by.
var steps = []string{
	"before the order", "after the order", "before the job", "after the job", "after the commit",
	"before the claim", "after the claim", "before the read", "after the read",
	"before the handler's work", "after the handler's work", "before a renewal", "after a renewal",
	"before a retry", "after a retry", "before the success", "after the success",
}

// die ends the process as a power cut would.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// killer is a gorm plugin that ends the process at a step.
type killer struct{ step string }

// at ends the process where that is its step.
func (k killer) at(step string) {
	if k.step == step {
		die()
	}
}

// Name implements gorm.Plugin.
func (killer) Name() string { return "test:killer" }

// Initialize implements gorm.Plugin.
func (k killer) Initialize(db *gorm.DB) error {
	before := func(tx *gorm.DB) { k.at("before " + stepOf(tx)) }
	after := func(tx *gorm.DB) {
		if tx.Error == nil && (tx.RowsAffected != 0 || tx.Statement.SQL.String()[0] == 'S') {
			k.at("after " + stepOf(tx))
		}
	}
	cb := db.Callback()
	return errors.Join(
		cb.Create().Before("*").Register(k.Name()+"1", before), cb.Create().After("*").Register(k.Name()+"2", after),
		cb.Raw().Before("*").Register(k.Name()+"1", before), cb.Raw().After("*").Register(k.Name()+"2", after),
		cb.Row().Before("*").Register(k.Name()+"1", before), cb.Row().After("*").Register(k.Name()+"2", after),
	)
}

// stepOf says which statement one is.
func stepOf(tx *gorm.DB) string {
	sql := strings.NewReplacer("`", "", `"`, "").Replace(tx.Statement.SQL.String())
	switch {
	case tx.Statement.Table == "orders":
		return "the order"
	case tx.Statement.Table == "plinth_jobs":
		return "the job"
	case strings.HasPrefix(sql, "UPDATE plinth_jobs SET state = 'running'"):
		return "the claim"
	case strings.HasPrefix(sql, "UPDATE plinth_jobs SET due_us"):
		return "a renewal"
	case strings.HasPrefix(sql, "UPDATE plinth_jobs SET state = 'waiting'"):
		return "a retry"
	case strings.HasPrefix(sql, "DELETE FROM plinth_jobs"):
		return "the success"
	case strings.HasPrefix(sql, "SELECT id, kind") && strings.Contains(sql, "holder"):
		return "the read"
	default:
		return ""
	}
}

// child does the task of a child, if this process is one.
func child() bool {
	text := xEnv.GetEnvString(childKey, "")
	if text == "" {
		return false
	}
	var do task
	err := json.Unmarshal([]byte(text), &do)
	if err == nil {
		err = do.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return true
}

func (do *task) run() error {
	quiet, err := xLog.New(xLog.Config{Level: slog.LevelError, Writer: io.Discard})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(xLog.NewContext(context.Background(), quiet), time.Minute)
	defer cancel()
	db, err := xDB.Open(ctx, xDB.Options{Driver: do.Driver, DSN: xLog.Secret(do.DSN)})
	if err != nil {
		return err
	}
	defer func() { _ = xDB.Close(db) }()
	ctx = context.WithValue(ctx, xCtx.DatabaseKey, db)
	engine, err := xOutbox.Open(xOutbox.WithTakeOver(do.TakeOver))(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, xCtx.JobQueueKey, xJob.NewQueue(engine))
	switch do.Role {
	case "die":
		return do.dieAt(ctx, db)
	case "poison":
		return doUntilEOF(ctx, xJob.WithHandlers(poison.Handle(func(context.Context, shipArgs) error { die(); return nil })))
	case "drain":
		return doUntilEOF(ctx, xJob.WithConcurrency(10), xJob.WithHandlers(ship.Handle(func(ctx context.Context, args shipArgs) error {
			return note(ctx, args, true)
		})))
	default:
		return do.hold(ctx, engine)
	}
}

// note writes an effect. That there is one already would mean that an attempt was made twice.
func note(ctx context.Context, args shipArgs, ended bool) error {
	info, _ := xJob.InfoFrom(ctx)
	err := xDB.MustGetDB(ctx).Create(&effect{JobID: info.ID, Attempt: info.Attempt, OrderID: args.Order, Ended: ended}).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		fmt.Fprintln(os.Stderr, "an attempt was made twice")
		os.Exit(4)
	}
	return err
}

// doUntilEOF works until the parent closes the input.
func doUntilEOF(ctx context.Context, options ...xJob.Option) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return xJob.Work(ctx, append(options, xJob.WithPollInterval(20*time.Millisecond))...)
}

// dieAt stores orders and their jobs and does jobs, until the process dies at its step.
func (do *task) dieAt(ctx context.Context, db *gorm.DB) error {
	k := killer{do.Step}
	if err := db.Use(k); err != nil {
		return err
	}
	working := make(chan error, 1)
	go func() {
		working <- xJob.Work(ctx, xJob.WithPollInterval(20*time.Millisecond), xJob.WithConcurrency(4),
			xJob.WithHandlers(ship.Handle(func(ctx context.Context, args shipArgs) error { return do.ship(ctx, k, args) })))
	}()
	for i := range int64(3) {
		err := xDB.Transaction(ctx, func(ctx context.Context) error {
			id := int64(do.First) + i
			if err := xDB.MustGetDB(ctx).Create(&order{ID: id}).Error; err != nil {
				return err
			}
			_, err := ship.Enqueue(ctx, shipArgs{id})
			return err
		})
		if err != nil {
			return err
		}
		k.at("after the commit")
	}
	return errors.Join(<-working, fmt.Errorf("the process did not come by %q", do.Step))
}

// ship is a handler that fails at the first attempt of every other order. Where the process is to die with a renewal it waits
// for that.
func (do *task) ship(ctx context.Context, k killer, args shipArgs) error {
	k.at("before the handler's work")
	if strings.HasSuffix(do.Step, "renewal") {
		<-ctx.Done()
	}
	info, _ := xJob.InfoFrom(ctx)
	ended := info.Attempt > 1 || args.Order%2 == 0
	if err := note(ctx, args, ended); err != nil {
		return err
	}
	k.at("after the handler's work")
	if !ended {
		return errors.New("not at the first attempt")
	}
	return nil
}

// say writes a line for the parent.
func say(words ...any) { _, _ = fmt.Fprintln(os.Stdout, words...) }

// hold takes one job and says so, and lets the attempt succeed when a line comes or when its context ends, and says how it was
// settled.
func (do *task) hold(ctx context.Context, engine job.Engine) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	line := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		in.Scan()
		close(line)
		in.Scan() // the end
		cancel()
	}()
	var taken atomic.Bool
	return engine.Work(ctx, job.Work{
		Kinds: []string{ship.Name()}, Concurrency: 1, Poll: 20 * time.Millisecond,
		Run: func(ctx context.Context, _ job.Attempt) job.Outcome {
			if taken.Swap(true) {
				return job.Outcome{Verdict: job.Return, Wait: time.Hour}
			}
			say("begun")
			if do.Deaf {
				ctx = context.WithoutCancel(ctx)
			}
			select {
			case <-line:
				say("ended by the line")
			case <-ctx.Done():
				say("ended by", context.Cause(ctx))
			}
			return job.Outcome{Verdict: job.Succeed}
		},
		Failed: func(_ context.Context, what string, err error) { say(what, err) },
		Lost:   func(_ context.Context, a job.Attempt, err error) { say("lost attempt", a.Number, err) },
	})
}
