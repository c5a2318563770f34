package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
)

func nothing(context.Context) {}

func TestServe_Errors(t *testing.T) {
	t.Run("reports all problems at once", func(t *testing.T) {
		err := runner.Serve(t.Context(),
			runner.WithLocation(nil), runner.WithLogger(nil), runner.WithGracefulStopTimeout(0),
			runner.WithLeaseTTL(time.Millisecond), nil,
			runner.WithRegister(
				cronx.NewJob("0 25 * * *", nothing, cronx.WithName("late")),
				cronx.NewJob("0 0 30 2 *", nothing, cronx.WithName("never")),
				cronx.NewJob("@daily", nothing, cronx.WithName("twice")),
				cronx.NewJob("@hourly", nothing, cronx.WithName("twice")),
				cronx.NewJob("@daily", nothing, cronx.WithSingleRun()),
				nil,
			))
		if !errors.Is(err, cronx.ErrJob) || !errors.Is(err, runner.ErrOption) {
			t.Errorf("error = %v, want ErrJob and ErrOption", err)
		}
		for _, want := range []string{
			"WithLocation: the location is nil", "WithLogger: the logger is nil",
			"WithGracefulStopTimeout: 0s is not positive",
			"WithLeaseTTL: 1ms (accepted: 1s to 24h0m0s)",
			`"late": spec "0 25 * * *": field 2 (hour) "25"`,
			`"never": spec "0 0 30 2 *": no such date`,
			`"twice": duplicate name`, "WithSingleRun requires WithName",
			"invalid job: nil job", "has no leases",
		} {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("error = %v\nwant an error that contains %q", err, want)
			}
		}
	})

	t.Run("rejects a runner without jobs", func(t *testing.T) {
		for _, tc := range []struct {
			name string
			opts []runner.Option
			want string
		}{
			{name: "no option"},
			{name: "no job", opts: []runner.Option{runner.WithRegister()}},
			{
				name: "another problem",
				opts: []runner.Option{runner.WithLocation(nil)}, want: "the location is nil",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := runner.Serve(ctx, tc.opts...)
				if !errors.Is(err, runner.ErrOption) ||
					!strings.Contains(err.Error(), "no job: use WithRegister") ||
					!strings.Contains(err.Error(), tc.want) {
					t.Errorf("Serve = %v, want ErrOption that names WithRegister, and %q",
						err, tc.want)
				}
			})
		}
	})

	t.Run("rejects a single run without cluster leases", func(t *testing.T) {
		register := runner.WithRegister(single("@every 1m", nothing))
		own := xlease.New(xlease.InProcess(nil))
		defer func() { _ = own.Close() }()
		for _, tc := range []struct {
			name string
			ctx  context.Context
			opts []runner.Option
			want string
		}{
			{name: "no leases", ctx: t.Context(), want: "the application has no leases"},
			{
				name: "leases of one process",
				ctx:  context.WithValue(t.Context(), xctx.LeasesKey, own),
				want: "the leases of memory (scope: process)",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				err := runner.Serve(tc.ctx, append(tc.opts, register)...)
				if err == nil || !strings.Contains(err.Error(), tc.want) ||
					!strings.Contains(err.Error(), "xoption.WithDatabase") {
					t.Errorf("Serve = %v, want %q with a fix", err, tc.want)
				}
			})
		}
	})
}

func TestServe_StoppedDuringStartup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &slowCluster{cluster: newCluster(), preparing: make(chan struct{})}
		leases := xlease.New(backend)
		defer func() { _ = leases.Close() }()
		s := serve(t, leased(t, leases), runner.WithRegister(single("@every 1m", nothing)))
		<-backend.preparing
		if err := s.stop(); err != nil {
			t.Errorf("Serve = %v, want nil after a stop while the leases are prepared", err)
		}
	})
}

// slowCluster is a backend whose Prepare waits until its context is canceled.
type slowCluster struct {
	*cluster
	preparing chan struct{}
}

func (c *slowCluster) Prepare(ctx context.Context) error {
	close(c.preparing)
	<-ctx.Done()
	return ctx.Err()
}

func TestWithRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		serve(t, t.Context(), runner.WithRegister(cronx.NewJob("@daily", nothing),
			cronx.NewJob("@hourly", nothing)))
		synctest.Wait()
		if text := out.String(); !strings.Contains(text, `"runner_test.nothing"`) ||
			!strings.Contains(text, `"runner_test.nothing#2"`) {
			t.Errorf("log = %s, want both with different names", text)
		}
	})
}

func TestWithOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		var counter runCounter
		s := serve(t, t.Context(), runner.WithOneProcess(),
			runner.WithRegister(single("@every 1m", counter.add)))
		sleep(3*time.Minute + time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		counter.check(t, epoch.Add(time.Minute), epoch.Add(4*time.Minute), time.Minute)
		if !strings.Contains(out.String(), "(scope: process)") {
			t.Errorf("log = %s, want the backend", out)
		}
	})
}

func TestNew(t *testing.T) {
	t.Run("uses the leases of the application", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			capture(t)
			var counter runCounter
			ctx := context.WithValue(t.Context(), xctx.LeasesKey, newCluster().leases(t))
			for range 2 {
				serve(t, ctx, runner.WithRegister(single("@every 1m", counter.add)))
			}
			sleep(2*time.Minute + time.Second)
			counter.check(t, epoch.Add(time.Minute), epoch.Add(3*time.Minute), time.Minute)
		})
	})

	t.Run("stops the application before it is ready if a job is invalid", func(t *testing.T) {
		reg := application(t)
		err := xmain.RunContext(t.Context(), reg, nil, nil, runner.New(
			runner.WithRegister(cronx.NewJob("* *", nothing))))
		if !errors.Is(err, cronx.ErrJob) || reg.Lifecycle().State() == xhook.StateReady {
			t.Errorf("Run = %v, want ErrJob", err)
		}
	})

	t.Run("logs an invalid job outside an application", func(t *testing.T) {
		out := capture(t)
		runner.New(runner.WithRegister(cronx.NewJob("* *", nothing)))(t.Context())
		if !strings.Contains(out.String(), "2 fields") {
			t.Errorf("log = %s, want the error", out)
		}
	})
}

// application returns an application that only runs its tasks.
func application(t *testing.T, options ...xoption.Option) *xreg.Reg {
	t.Helper()
	reg, err := xreg.New(t.Context(), nil, append(options, xoption.WithoutEnvFile(),
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithSnowflake(xsnowflake.WithNodeID(1)),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }))...)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestNew_Shutdown(t *testing.T) {
	t.Run("waits for a run", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var ended, started atomic.Int64
		err := xmain.RunContext(ctx, application(t), nil, nil, runner.New(runner.WithRegister(
			cronx.NewJob("* * * * * *", func(ctx context.Context) {
				started.Add(1)
				stop() // like SIGTERM
				<-xhook.Draining(ctx)
				<-time.After(1200 * time.Millisecond) // longer than the time to the next tick
				if ctx.Err() == nil {
					ended.Add(1)
				}
			}, cronx.WithOverlap()))))
		if err != nil || started.Load() != 1 || ended.Load() != 1 {
			t.Errorf("Run = %v, %d runs, %d of them with an active context, want 1 and 1",
				err, started.Load(), ended.Load())
		}
	})

	t.Run("is limited by the application's shutdown timeout", func(t *testing.T) {
		for _, tc := range []struct {
			name    string
			ignores bool
			want    string
		}{
			{name: "returns when canceled", want: stopped + "canceled: long"},
			{
				name:    "ignores its context",
				ignores: true, want: stopped + "canceled: long; abandoned: long",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				end, causes := make(chan struct{}), make(chan error, 1)
				started := make(chan time.Time, 1)
				err := xmain.RunContext(ctx, application(t,
					xoption.WithShutdownTimeout(1500*time.Millisecond)), nil, nil, runner.New(
					runner.WithRegister(cronx.NewJob("* * * * * *", func(ctx context.Context) {
						started <- time.Now()
						stop()
						<-ctx.Done()
						causes <- context.Cause(ctx)
						if tc.ignores {
							<-end
						}
					}, cronx.WithName("long")))))
				elapsed := time.Since(<-started)
				close(end)
				if cause := <-causes; !errors.Is(cause, runner.ErrStopped) ||
					elapsed > 10*time.Second {
					t.Errorf("cause = %v after %s, want ErrStopped", cause, elapsed)
				}
				if !errors.Is(err, runner.ErrStopped) || !strings.HasSuffix(err.Error(), tc.want) {
					t.Errorf("Run = %v, want %q", err, tc.want)
				}
			})
		}
	})
}
