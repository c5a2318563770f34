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

	"github.com/plinthgo/plinth/asyncx/backoff"
	"github.com/plinthgo/plinth/asyncx/job"
	jobdriver "github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
)

// childKey is the environment variable that makes this program a child process of a test.
const childKey xenv.EnvKey = "PLINTH_OUTBOX_CHILD"

// childConfig configures a child process.
type childConfig struct {
	Role       string
	Driver     string
	DSN        string
	TakeOver   time.Duration
	Step       string // the process is killed at this step
	First      int    // number of the first order
	IgnoresCtx bool   // the handler ignores its context
}

// order is a row that a transaction stores with its job.
type order struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false"`
}

// effect is a row that an attempt at the job of an order stores.
type effect struct {
	JobID   string `gorm:"primaryKey;size:36"`
	Attempt int    `gorm:"primaryKey;autoIncrement:false"`
	OrderID int64
	Ended   bool // the attempt succeeded
}

// shipArgs are the arguments of ship.
type shipArgs struct {
	Order int64 `json:"order"`
}

var (
	ship = job.NewKind[shipArgs]("order.ship",
		job.WithMaxAttempts(1000), job.WithBackoff(backoff.Constant(10*time.Millisecond)))
	// poison is a job that always kills its process
	poison = job.NewKind[shipArgs]("order.poison", job.WithMaxAttempts(3))
)

// steps are the steps at which a process can be killed, in the order of a job's
// lifecycle.
var steps = []string{
	"before the order", "after the order", "before the job", "after the job", "after the commit",
	"before the claim", "after the claim", "before the read", "after the read",
	"before the handler's work", "after the handler's work", "before a renewal", "after a renewal",
	"before a retry", "after a retry", "before the success", "after the success",
}

// killSelf kills the process with SIGKILL.
func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// killer is a gorm plugin that kills the process at a step.
type killer struct{ step string }

// at kills the process if step is its step.
func (k killer) at(step string) {
	if k.step == step {
		killSelf()
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
		cb.Create().Before("*").Register(k.Name()+"1", before),
		cb.Create().After("*").Register(k.Name()+"2", after),
		cb.Raw().Before("*").Register(k.Name()+"1", before),
		cb.Raw().After("*").Register(k.Name()+"2", after),
		cb.Row().Before("*").Register(k.Name()+"1", before),
		cb.Row().After("*").Register(k.Name()+"2", after),
	)
}

// stepOf returns the step of a statement.
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

// child reports whether this process is a child. If it is, child runs it.
func child() bool {
	text := xenv.GetEnvString(childKey, "")
	if text == "" {
		return false
	}
	var c childConfig
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		err = c.run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	return true
}

func (c *childConfig) run() error {
	quiet, err := xlog.New(xlog.Config{Level: slog.LevelError, Writer: io.Discard})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(xlog.NewContext(context.Background(), quiet), time.Minute)
	defer cancel()
	db, err := xdb.Open(ctx, xdb.Options{Driver: c.Driver, DSN: xlog.Secret(c.DSN)})
	if err != nil {
		return err
	}
	defer func() { _ = xdb.Close(db) }()
	ctx = context.WithValue(ctx, xctx.DatabaseKey, db)
	engine, err := outbox.Open(outbox.WithTakeoverTimeout(c.TakeOver))(ctx)
	if err != nil {
		return err
	}
	ctx = context.WithValue(ctx, xctx.JobQueueKey, job.NewQueue(engine))
	switch c.Role {
	case "die":
		return c.workUntilKilled(ctx, db)
	case "poison":
		return workUntilEOF(ctx,
			job.WithHandlers(poison.Handle(func(context.Context, shipArgs) error {
				killSelf()
				return nil
			})))
	case "drain":
		return workUntilEOF(ctx, job.WithConcurrency(10),
			job.WithHandlers(ship.Handle(func(ctx context.Context, args shipArgs) error {
				return recordEffect(ctx, args, true)
			})))
	default:
		return c.hold(ctx, engine)
	}
}

// recordEffect stores an effect. It exits if the effect exists, because the attempt ran
// twice.
func recordEffect(ctx context.Context, args shipArgs, ended bool) error {
	info, _ := job.InfoFrom(ctx)
	err := xdb.MustGetDB(ctx).Create(&effect{
		JobID: info.ID, Attempt: info.Attempt, OrderID: args.Order, Ended: ended,
	}).Error
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		fmt.Fprintln(os.Stderr, "an attempt ran twice")
		os.Exit(4)
	}
	return err
}

// workUntilEOF runs jobs until the parent closes the input.
func workUntilEOF(ctx context.Context, options ...job.Option) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return job.Work(ctx, append(options, job.WithPollInterval(20*time.Millisecond))...)
}

// workUntilKilled stores orders with their jobs, and runs jobs, until the process is
// killed at its step.
func (c *childConfig) workUntilKilled(ctx context.Context, db *gorm.DB) error {
	k := killer{c.Step}
	if err := db.Use(k); err != nil {
		return err
	}
	working := make(chan error, 1)
	go func() {
		working <- job.Work(ctx, job.WithPollInterval(20*time.Millisecond), job.WithConcurrency(4),
			job.WithHandlers(ship.Handle(func(ctx context.Context, args shipArgs) error {
				return c.ship(ctx, k, args)
			})))
	}()
	for i := range int64(3) {
		err := xdb.Transaction(ctx, func(ctx context.Context) error {
			id := int64(c.First) + i
			if err := xdb.MustGetDB(ctx).Create(&order{ID: id}).Error; err != nil {
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
	return errors.Join(<-working, fmt.Errorf("the process was not killed at step %q", c.Step))
}

// ship handles an order. It fails on the first attempt of every other order. If the
// process is killed at a renewal, it waits for the renewal.
func (c *childConfig) ship(ctx context.Context, k killer, args shipArgs) error {
	k.at("before the handler's work")
	if strings.HasSuffix(c.Step, "renewal") {
		<-ctx.Done()
	}
	info, _ := job.InfoFrom(ctx)
	ended := info.Attempt > 1 || args.Order%2 == 0
	if err := recordEffect(ctx, args, ended); err != nil {
		return err
	}
	k.at("after the handler's work")
	if !ended {
		return errors.New("fails on the first attempt")
	}
	return nil
}

// printLine prints a line for the parent process.
func printLine(words ...any) { _, _ = fmt.Fprintln(os.Stdout, words...) }

// hold runs one job until it reads a line or the context of the job is canceled, and
// prints what happens.
func (c *childConfig) hold(ctx context.Context, engine jobdriver.Engine) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lineRead := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		in.Scan()
		close(lineRead)
		in.Scan() // waits for EOF
		cancel()
	}()
	var started atomic.Bool
	return engine.Work(ctx, jobdriver.Work{
		Kinds: []string{ship.Name()}, Concurrency: 1, PollInterval: 20 * time.Millisecond,
		Run: func(ctx context.Context, _ jobdriver.Attempt) jobdriver.Outcome {
			if started.Swap(true) {
				return jobdriver.Outcome{Action: jobdriver.Release, Wait: time.Hour}
			}
			printLine("started")
			if c.IgnoresCtx {
				ctx = context.WithoutCancel(ctx)
			}
			select {
			case <-lineRead:
				printLine("returned after the line")
			case <-ctx.Done():
				printLine("canceled:", context.Cause(ctx))
			}
			return jobdriver.Outcome{Action: jobdriver.Complete}
		},
		OnError: func(_ context.Context, operation string, err error) { printLine(operation, err) },
		OnLost: func(_ context.Context, a jobdriver.Attempt, err error) {
			printLine("lost attempt", a.Number, err)
		},
	})
}
