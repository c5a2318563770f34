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

func TestEverythingWrongIsReportedAtOnce(t *testing.T) {
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
		"WithGracefulStopTimeout: 0s is no duration above 0",
		"WithLeaseTTL: 1ms (accepted: 1s to 24h0m0s)",
		`"late": the spec "0 25 * * *": field 2 (hour) "25"`,
		`"never": the spec "0 0 30 2 *": there is no such date`,
		`"twice": another job has this name`, "WithSingleRun needs WithName",
		"wrong job: it is nil", "has no leases that could decide",
	} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("error = %v\nwant %q in it", err, want)
		}
	}
}

func TestARunnerWithoutJobsIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		opts []runner.Option
		want string
	}{
		{name: "no option"},
		{name: "no job registered", opts: []runner.Option{runner.WithRegister()}},
		{
			name: "beside what else is wrong",
			opts: []runner.Option{runner.WithLocation(nil)}, want: "the location is nil",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			err := runner.Serve(ctx, tc.opts...)
			if !errors.Is(err, runner.ErrOption) ||
				!strings.Contains(err.Error(), "there is no job: give WithRegister") ||
				!strings.Contains(err.Error(), tc.want) {
				t.Errorf("Serve = %v, want ErrOption that names WithRegister, and %q", err, tc.want)
			}
		})
	}
}

func TestOneFunctionMayBeRegisteredTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		serve(t, t.Context(), runner.WithRegister(cronx.NewJob("@daily", nothing),
			cronx.NewJob("@hourly", nothing)))
		synctest.Wait()
		if text := out.String(); !strings.Contains(text, `"runner_test.nothing"`) ||
			!strings.Contains(text, `"runner_test.nothing#2"`) {
			t.Errorf("log = %s, want both, told apart", text)
		}
	})
}

func TestASingleRunIsRefusedWhereNobodyDecides(t *testing.T) {
	register := runner.WithRegister(single("@every 1m", nothing))
	own := xlease.New(xlease.InProcess(nil))
	defer func() { _ = own.Close() }()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		opts []runner.Option
		want string
	}{
		{
			name: "no leases", ctx: t.Context(),
			want: "the application has no leases that could decide where",
		},
		{
			name: "the application's, of one process",
			ctx:  context.WithValue(t.Context(), xctx.LeasesKey, own),
			want: "the leases are those of memory (scope: process)",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := runner.Serve(tc.ctx, append(tc.opts, register)...)
			if err == nil || !strings.Contains(err.Error(), tc.want) ||
				!strings.Contains(err.Error(), "xoption.WithDatabase") {
				t.Errorf("Serve = %v, want %q and what to do", err, tc.want)
			}
		})
	}
}

func TestOneProcessNeedsNoBackend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := capture(t)
		var y tally
		s := serve(t, t.Context(), runner.WithOneProcess(),
			runner.WithRegister(single("@every 1m", y.add)))
		pass(3*time.Minute + time.Second)
		if err := s.stop(); err != nil {
			t.Error(err)
		}
		y.check(t, bubble.Add(time.Minute), bubble.Add(4*time.Minute), time.Minute)
		if !strings.Contains(out.String(), "(scope: process)") {
			t.Errorf("log = %s, want it to say between whom is decided", out)
		}
	})
}

func TestASingleRunTakesTheLeasesOfTheApplication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		capture(t)
		var y tally
		ctx := context.WithValue(t.Context(), xctx.LeasesKey, newCluster().leases(t))
		for range 2 {
			serve(t, ctx, runner.WithRegister(single("@every 1m", y.add)))
		}
		pass(2*time.Minute + time.Second)
		y.check(t, bubble.Add(time.Minute), bubble.Add(3*time.Minute), time.Minute)
	})
}

// application makes one that serves nothing but its tasks.
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

func TestAWrongJobEndsTheApplicationBeforeItIsReady(t *testing.T) {
	reg := application(t)
	err := xmain.RunContext(t.Context(), reg, nil, nil, runner.New(
		runner.WithRegister(cronx.NewJob("* *", nothing))))
	if !errors.Is(err, cronx.ErrJob) || reg.Life().State() == xhook.StateReady {
		t.Errorf("Run = %v, want ErrJob", err)
	}
}

func TestTheApplicationsStopWaitsForARun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var ended, began atomic.Int64
	err := xmain.RunContext(ctx, application(t), nil, nil, runner.New(runner.WithRegister(
		cronx.NewJob("* * * * * *", func(ctx context.Context) {
			began.Add(1)
			stop() // as SIGTERM would
			<-xhook.Draining(ctx)
			<-time.After(1200 * time.Millisecond) // past the next tick
			if ctx.Err() == nil {
				ended.Add(1)
			}
		}, cronx.WithOverlap()))))
	if err != nil || began.Load() != 1 || ended.Load() != 1 {
		t.Errorf("Run = %v, %d runs, %d of them with a context that lasted, want 1 and 1",
			err, began.Load(), ended.Load())
	}
}

func TestTheApplicationsTimeBoundsTheStop(t *testing.T) {
	for _, tc := range []struct {
		name string
		deaf bool
		want string
	}{
		{name: "a run that ends when it has to", want: stopped + "cut off: long"},
		{
			name: "a run that does not listen",
			deaf: true, want: stopped + "cut off: long; left behind: long",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			end, causes := make(chan struct{}), make(chan error, 1)
			began := make(chan time.Time, 1)
			err := xmain.RunContext(ctx, application(t,
				xoption.WithShutdownTimeout(1500*time.Millisecond)), nil, nil, runner.New(
				runner.WithRegister(cronx.NewJob("* * * * * *", func(ctx context.Context) {
					began <- time.Now()
					stop()
					<-ctx.Done()
					causes <- context.Cause(ctx)
					if tc.deaf {
						<-end
					}
				}, cronx.WithName("long")))))
			took := time.Since(<-began)
			close(end)
			if cause := <-causes; !errors.Is(cause, runner.ErrStopped) || took > 10*time.Second {
				t.Errorf("cause = %v after %s, want ErrStopped", cause, took)
			}
			if !errors.Is(err, runner.ErrStopped) || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("Run = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestOutsideOfAnApplicationAWrongJobIsLogged(t *testing.T) {
	out := capture(t)
	runner.New(runner.WithRegister(cronx.NewJob("* *", nothing)))(t.Context())
	if !strings.Contains(out.String(), "its number of fields is 2") {
		t.Errorf("log = %s, want the problem", out)
	}
}
