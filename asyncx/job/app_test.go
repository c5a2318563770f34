package job_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/job/driver"
	"github.com/plinthgo/plinth/asyncx/job/internal/memory"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// app is an application with a test double as its engine.
type app struct {
	reg   *xreg.Reg
	store *memory.Store
	log   *recorder
}

func newApp(t *testing.T, options ...xoption.Option) *app {
	t.Helper()
	a := &app{store: memory.New(), log: &recorder{}}
	engine, err := xlog.New(xlog.Config{Writer: a.log, Format: xlog.FormatJSON})
	if err != nil {
		t.Fatal(err)
	}
	open := func(context.Context) (driver.Engine, error) { return a.store.Connect(), nil }
	a.reg, err = xreg.New(t.Context(),
		[]xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(open)}},
		append([]xoption.Option{
			xoption.WithoutEnvFile(), xoption.WithLogger(engine),
			xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
			xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs the application and its worker until the job has started, stops it, and
// returns the error of RunContext.
func (a *app) run(t *testing.T, started <-chan struct{}, tasks ...xmain.Task) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- xmain.RunContext(ctx, a.reg, nil, nil, tasks...) }()
	select {
	case <-started:
		stop()
		return <-done
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the job did not start")
		return nil
	}
}

func TestNew(t *testing.T) {
	t.Run("completes running jobs before the nodes close", func(t *testing.T) {
		a := newApp(t)
		k := job.NewKind[note]("note")
		started := make(chan struct{})
		lifecycle := xhook.From(a.reg.Init.Ctx)
		var ctxErr error
		task := job.New(job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
			close(started)
			<-xhook.Draining(ctx)
			<-time.After(50 * time.Millisecond)
			ctxErr = ctx.Err()
			return nil
		})))
		queue := job.MustGetQueue(a.reg.Init.Ctx)
		id, err := k.Enqueue(a.reg.Init.Ctx, note{})
		if err != nil {
			t.Fatal(err)
		}
		lifecycle.OnStop("check", func(ctx context.Context) error {
			if _, err := queue.Get(ctx, id); !errors.Is(err, job.ErrNotFound) {
				t.Errorf("Get after shutdown = %v, want the job completed before the nodes close",
					err)
			}
			return nil
		})
		if err := a.run(t, started, task); err != nil {
			t.Errorf("RunContext = %v", err)
		}
		if ctxErr != nil {
			t.Errorf("the context error of the running job = %v, want nil", ctxErr)
		}
		if err := queue.CheckHealth(t.Context()); !errors.Is(err, job.ErrClosed) {
			t.Errorf("CheckHealth after shutdown = %v, want %v", err, job.ErrClosed)
		}
	})

	t.Run("stops jobs when the application's shutdown timeout expires", func(t *testing.T) {
		for _, tc := range []struct {
			name   string
			handle func(ctx context.Context, release <-chan struct{})
			line   string
		}{
			{
				name:   "returns when its context is canceled",
				handle: func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() },
				line:   "job released",
			},
			{
				name:   "ignores its context",
				handle: func(_ context.Context, release <-chan struct{}) { <-release },
				line:   "job abandoned",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				a := newApp(t, xoption.WithShutdownTimeout(time.Second))
				k := job.NewKind[note]("note")
				started, release := make(chan struct{}), make(chan struct{})
				defer close(release)
				task := job.New(job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
					close(started)
					tc.handle(ctx, release)
					return ctx.Err()
				})))
				id, err := k.Enqueue(a.reg.Init.Ctx, note{})
				if err != nil {
					t.Fatal(err)
				}
				if err := a.run(t, started, task); err != nil {
					t.Errorf("RunContext = %v, want nil", err)
				}
				r, err := a.store.Connect().Get(t.Context(), id)
				if err != nil || r.State != driver.Waiting || r.Attempt != 0 {
					t.Errorf("the job is %s with attempt %d, %v; want it waiting with 0",
						r.State, r.Attempt, err)
				}
				if !strings.Contains(a.log.String(), tc.line) {
					t.Errorf("no log message %q:\n%s", tc.line, a.log)
				}
			})
		}
	})

	t.Run("stops the application on a startup error", func(t *testing.T) {
		a := newApp(t)
		if err := a.run(t, nil, job.New()); !errors.Is(err, job.ErrOption) {
			t.Errorf("RunContext = %v, want %v", err, job.ErrOption)
		}
	})

	t.Run("runs in a plinthtest application", func(t *testing.T) {
		done := make(chan string, 1)
		app := plinthtest.New(t, xoption.WithDatabase(xoptdatabase.WithAutoMigrate(&User{})),
			xoption.WithNodes(xregnode.Node{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}))
		app.Go(job.New(job.WithHandlers(
			Welcome.Handle(func(ctx context.Context, args WelcomeArgs) error {
				var user User
				err := xdb.MustGetDB(ctx).First(&user, args.UserID).Error
				done <- user.Name
				return err
			}))))
		if err := signUp(app.Context(), "Ann"); err != nil {
			t.Fatal(err)
		}
		select {
		case name := <-done:
			if name != "Ann" {
				t.Errorf("the job is for %q, want Ann", name)
			}
		case <-time.After(30 * time.Second):
			t.Fatal("the job did not run")
		}
		waiting, err := job.MustGetQueue(app.Context()).List(app.Context(),
			job.Query{State: job.StateWaiting})
		if err != nil || len(waiting) != 0 {
			t.Errorf("List = %v, %v; want no waiting job", waiting, err)
		}
	})
}

func TestInit(t *testing.T) {
	t.Run("fails startup if the engine does not open", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			open job.Opener
			want error
		}{
			{name: "nil opener", want: job.ErrOption},
			{
				name: "failing opener",
				open: func(context.Context) (driver.Engine, error) { return nil, errBoom },
				want: errBoom,
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := xreg.New(t.Context(),
					[]xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(tc.open)}},
					xoption.WithoutEnvFile(), xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
					xoption.WithLogConfig(func(c *xlog.Config) {
						c.Writer, c.Dir = io.Discard, ""
					}))
				if !errors.Is(err, tc.want) {
					t.Errorf("New = %v, want %v", err, tc.want)
				}
			})
		}
	})

	t.Run("rejects and closes an engine with another interface version", func(t *testing.T) {
		engine := futureEngine{memory.New().Connect()}
		_, err := job.Init(func(context.Context) (driver.Engine, error) {
			return engine, nil
		})(t.Context())
		if err == nil {
			t.Fatal("Init accepted an engine with another interface version")
		}
		for _, want := range []string{
			"version 2", "version 1", "`go get github.com/plinthgo/plinth/asyncx@latest`",
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("Init = %v, want an error that contains %q", err, want)
			}
		}
		if err := engine.Ping(t.Context()); !errors.Is(err, job.ErrClosed) {
			t.Errorf("Ping = %v, want ErrClosed", err)
		}
	})
}

// futureEngine is an engine for a newer version of the interface.
type futureEngine struct{ *memory.Engine }

func (f futureEngine) Capabilities() driver.Capabilities {
	capabilities := f.Engine.Capabilities()
	capabilities.Interface = driver.InterfaceVersion + 1
	return capabilities
}

func TestQueue_CheckHealth(t *testing.T) {
	t.Run("reports an outage", func(t *testing.T) {
		a := newApp(t)
		defer func() { _ = a.reg.Close(context.WithoutCancel(t.Context())) }()
		a.wantHealth(t, nil)
		a.store.SetDown(true)
		a.wantHealth(t, memory.ErrAway)
	})
}

// wantHealth fails the test if the health check of the queue does not return want.
func (a *app) wantHealth(t *testing.T, want error) {
	t.Helper()
	for _, h := range xhook.From(a.reg.Init.Ctx).Check(t.Context()) {
		if strings.Contains(h.Name, "jobs") {
			if !errors.Is(h.Err, want) {
				t.Errorf("the health of %s = %v, want %v", h.Name, h.Err, want)
			}
			return
		}
	}
	t.Error("no health check for the queue")
}
