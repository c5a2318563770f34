// Package plinthtest runs a whole application in a test, in memory and without a
// listener.
//
//	func TestRegister(t *testing.T) {
//		t.Parallel()
//		app := plinthtest.New(t, options()...) // the options of xreg.Register
//		r := app.Request(http.MethodPost, "/api/v1/user/register", request)
//		var user User
//		r.Into(&user)
//	}
//
// Applications of one process are isolated: each has its own log, ID node, clock,
// database and cache. They share the environment and the registries of error codes,
// mappers and drivers. A test that changes the environment must call t.Setenv before New
// and cannot be parallel.
package plinthtest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
)

// App is an application under test. Its methods are safe for concurrent use.
type App struct {
	tb    testing.TB
	reg   *xreg.Reg
	clock *Clock
	logs  *recorder
	tasks sync.WaitGroup
}

// New starts an application and stops it when the test completes. An error fails the test
// and prints the log.
//
// New replaces a configured database with an in-memory database of the driver "sqlite",
// and a configured cache with one of the driver "memory". The test must import the
// plugins of these drivers. All other options apply, such as the entities to migrate. New
// loads no .env file. Nodes, hooks, health checks and routes run as usual. If the
// application has a database or a cache, its leases cover only this process.
func New(tb testing.TB, opts ...xoption.Option) *App {
	tb.Helper()
	return start(tb, append(opts, inMemory))
}

// NewWithBackends is like New but opens the configured database and cache.
func NewWithBackends(tb testing.TB, opts ...xoption.Option) *App {
	tb.Helper()
	return start(tb, opts)
}

// inMemory replaces the backends of an application.
func inMemory(p *startup.Plan) {
	if p.Database != nil {
		xoption.WithDatabase(xoptdatabase.WithDriver("sqlite", ":memory:"))(p)
	}
	if p.Cache != nil {
		xoption.WithCache(xoptcache.WithDriver("memory"))(p)
	}
	if p.Leases == nil && (p.Database != nil || p.Cache != nil) {
		xoption.WithLeases(processLeases)(p)
	}
}

// processLeases returns leases that cover only this process. The in-memory database
// cannot store them, because it has a single writer: a caller that acquires a lease
// within a transaction would wait for itself.
func processLeases(context.Context) (*xlease.Leases, error) {
	if xenv.GetEnvString(xenv.LeaseBackend, "") == "none" {
		return nil, nil // leases are disabled
	}
	return xlease.New(xlease.InProcess(nil)), nil
}

// nodes counts the ID nodes of the process. Each application has a different node ID, so
// that applications with a shared database generate different IDs.
var nodes atomic.Int64

func start(tb testing.TB, opts []xoption.Option) *App {
	tb.Helper()
	app := &App{tb: tb, clock: &Clock{}, logs: &recorder{}}
	engine, err := xlog.New(xlog.Config{
		Writer: app.logs, Format: xlog.FormatJSON, Level: -4,
		Clock: app.clock.Now,
	})
	if err != nil {
		tb.Fatalf("plinthtest: log: %v", err)
	}
	slot := int(nodes.Add(1) % 64)
	base := xoption.WithOptions(
		xoption.WithoutEnvFile(), xoption.WithLogger(engine),
		xoption.WithSnowflake(xsnowflake.WithClock(app.clock.Now),
			xsnowflake.WithDatacenterID(slot/8), xsnowflake.WithNodeID(slot%8)),
	)
	tb.Cleanup(app.showLog)
	reg, err := xreg.New(tb.Context(), nil,
		append(append([]xoption.Option{base}, opts...), app.withClock)...)
	if err != nil {
		for _, one := range report.List(err) {
			tb.Errorf("plinthtest: start: %v", one)
		}
		tb.FailNow()
	}
	app.reg = reg
	tb.Cleanup(app.stop)
	if err := reg.Lifecycle().Start(reg.Init.Ctx); err != nil {
		tb.Fatalf("plinthtest: %v", err)
	}
	if err := reg.Lifecycle().SetReady(reg.Init.Ctx); err != nil {
		tb.Fatalf("plinthtest: %v", err)
	}
	return app
}

// withClock sets the clock of the cache.
func (a *App) withClock(p *startup.Plan) {
	if p.Cache != nil {
		xoption.WithCache(func(o *xcache.Options) { o.Config.Now = a.clock.Now })(p)
	}
}

// stopTimeout is the timeout of hooks and nodes at the end of a test.
const stopTimeout = 10 * time.Second

// stop stops the application like the Runner, but without delays.
func (a *App) stop() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.reg.Init.Ctx), stopTimeout)
	defer cancel()
	if err := a.reg.Lifecycle().Drain(ctx); err != nil {
		a.tb.Errorf("plinthtest: %v", err)
	}
	if err := a.reg.Lifecycle().Shutdown(ctx); err != nil {
		a.tb.Errorf("plinthtest: %v", err)
	}
	a.reg.Cancel()
	a.tasks.Wait()
	if err := a.reg.Close(ctx); err != nil {
		a.tb.Errorf("plinthtest: close: %v", err)
	}
	if err := a.reg.Lifecycle().Err(); err != nil {
		a.tb.Errorf("plinthtest: the application failed: %v", err)
	}
}

// showLog prints the log of a failed test.
func (a *App) showLog() {
	if a.tb.Failed() {
		a.tb.Logf("log of the application:\n%s", a.LogText())
	}
}

// Context returns the application's context, which carries the values of all nodes.
func (a *App) Context() context.Context { return a.reg.Init.Ctx }

// Engine returns the application's engine.
func (a *App) Engine() *gin.Engine { return a.reg.Serve }

// Reg returns the application.
func (a *App) Reg() *xreg.Reg { return a.reg }

// Clock returns the clock of the application's IDs, cache and log.
func (a *App) Clock() *Clock { return a.clock }

// Go runs a task of the application concurrently with the test. When the test completes,
// it waits for the task. A panic of the task fails the test.
func (a *App) Go(task xmain.Task) {
	a.tasks.Go(func() {
		if err := xhook.Guard(func() error { task(a.reg.Init.Ctx); return nil }); err != nil {
			a.tb.Errorf("plinthtest: task: %v", err)
		}
	})
}
