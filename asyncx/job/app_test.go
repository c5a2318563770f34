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

// app is an application whose queue is a test double.
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

// run runs the application with the worker until the job has begun, and returns what it
// ended with.
func (a *app) run(t *testing.T, begun <-chan struct{}, tasks ...xmain.Task) error {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- xmain.RunContext(ctx, a.reg, nil, nil, tasks...) }()
	select {
	case <-begun:
		stop()
		return <-done
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("the job does not begin")
		return nil
	}
}

func TestAWorkerLivesAndEndsWithItsApplication(t *testing.T) {
	a := newApp(t)
	k := job.NewKind[note]("note")
	begun := make(chan struct{})
	life := xhook.From(a.reg.Init.Ctx)
	var last error
	do := job.New(job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
		close(begun)
		<-xhook.Draining(ctx)
		<-time.After(50 * time.Millisecond)
		last = ctx.Err()
		return nil
	})))
	queue := job.MustGetQueue(a.reg.Init.Ctx)
	id, err := k.Enqueue(a.reg.Init.Ctx, note{})
	if err != nil {
		t.Fatal(err)
	}
	life.OnStop("look", func(ctx context.Context) error {
		if _, err := queue.Get(ctx, id); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("at the end Get = %v, want the job done before the nodes are closed", err)
		}
		return nil
	})
	if err := a.run(t, begun, do); err != nil {
		t.Errorf("RunContext = %v", err)
	}
	if last != nil {
		t.Errorf("the context of the job that was waited for = %v, want it alive", last)
	}
	if err := queue.CheckHealth(t.Context()); !errors.Is(err, job.ErrClosed) {
		t.Errorf("CheckHealth after the end = %v, want %v: the node is closed", err, job.ErrClosed)
	}
}

func TestTheApplicationsTimeCutsJobsOffToo(t *testing.T) {
	for _, tc := range []struct {
		name   string
		handle func(ctx context.Context, release <-chan struct{})
		line   string
	}{
		{name: "one that ends with its context", handle: func(ctx context.Context,
			_ <-chan struct{},
		) {
			<-ctx.Done()
		}, line: "job put back"},
		{name: "one that does not", handle: func(_ context.Context,
			release <-chan struct{},
		) {
			<-release
		}, line: "job left behind"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := newApp(t, xoption.WithShutdownTimeout(time.Second))
			k := job.NewKind[note]("note")
			begun, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			do := job.New(job.WithHandlers(k.Handle(func(ctx context.Context, _ note) error {
				close(begun)
				tc.handle(ctx, release)
				return ctx.Err()
			})))
			id, err := k.Enqueue(a.reg.Init.Ctx, note{})
			if err != nil {
				t.Fatal(err)
			}
			if err := a.run(t, begun, do); err != nil {
				t.Errorf("RunContext = %v, want nil: nothing is lost", err)
			}
			r, err := a.store.Connect().Get(t.Context(), id)
			if err != nil || r.State != driver.Waiting || r.Attempt != 0 {
				t.Errorf("the job is %s with attempt %d, %v; want it to wait without one",
					r.State, r.Attempt, err)
			}
			if !strings.Contains(a.log.String(), tc.line) {
				t.Errorf("no line says %q:\n%s", tc.line, a.log)
			}
		})
	}
}

func TestAWorkerThatCannotBeginEndsTheApplication(t *testing.T) {
	a := newApp(t)
	if err := a.run(t, nil, job.New()); !errors.Is(err, job.ErrOption) {
		t.Errorf("RunContext = %v, want %v", err, job.ErrOption)
	}
}

func TestAnEngineThatDoesNotOpenFailsTheStart(t *testing.T) {
	for _, tc := range []struct {
		name string
		open job.Opener
		want error
	}{
		{name: "none", want: job.ErrOption},
		{
			name: "broken", open: func(context.Context) (driver.Engine, error) { return nil, errBoom },
			want: errBoom,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := xreg.New(t.Context(),
				[]xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(tc.open)}},
				xoption.WithoutEnvFile(), xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
				xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }))
			if !errors.Is(err, tc.want) {
				t.Errorf("New = %v, want %v", err, tc.want)
			}
		})
	}
}

// future is an engine that was written for an interface that is not there yet.
type future struct{ *memory.Engine }

func (f future) Capabilities() driver.Capabilities {
	capabilities := f.Engine.Capabilities()
	capabilities.Interface = driver.InterfaceVersion + 1
	return capabilities
}

func TestAnEngineOfAnotherInterfaceIsRefusedAndClosed(t *testing.T) {
	engine := future{memory.New().Connect()}
	_, err := job.Init(func(context.Context) (driver.Engine, error) {
		return engine, nil
	})(t.Context())
	if err == nil {
		t.Fatal("Init took an engine of another interface")
	}
	for _, want := range []string{
		"version 2", "version 1",
		"`go get github.com/plinthgo/plinth/asyncx@latest`",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Init = %v, want %q in it", err, want)
		}
	}
	if err := engine.Ping(t.Context()); !errors.Is(err, job.ErrClosed) {
		t.Errorf("Ping = %v, want ErrClosed", err)
	}
}

func TestAnOutageOfTheEngineIsOneOfTheHealth(t *testing.T) {
	a := newApp(t)
	defer func() { _ = a.reg.Close(context.WithoutCancel(t.Context())) }()
	a.healthy(t, nil)
	a.store.SetDown(true)
	a.healthy(t, memory.ErrAway)
}

// healthy fails the test where the check of the queue does not say that.
func (a *app) healthy(t *testing.T, want error) {
	t.Helper()
	for _, h := range xhook.From(a.reg.Init.Ctx).Check(t.Context()) {
		if strings.Contains(h.Name, "jobs") {
			if !errors.Is(h.Err, want) {
				t.Errorf("the health of %s = %v, want %v", h.Name, h.Err, want)
			}
			return
		}
	}
	t.Error("the queue has no health check")
}

func TestAWorkerRunsBesideATest(t *testing.T) {
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
		t.Fatal("the job does not run")
	}
	waiting, err := job.MustGetQueue(app.Context()).List(app.Context(),
		job.Query{State: job.StateWaiting})
	if err != nil || len(waiting) != 0 {
		t.Errorf("List = %v, %v; want no job that waits", waiting, err)
	}
}
