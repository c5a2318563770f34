package xreg

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/internal/problem"
	"github.com/plinthgo/plinth/core/internal/watchdog"
	"github.com/plinthgo/plinth/core/major/internal/signals"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// exit ends the process.
var exit = os.Exit

// Register is New for a main function: when the start fails it writes one line for each problem and ends the program
// with exit code 1.
//
// From its beginning to the end of the Runner, or to Close, SIGINT, SIGTERM and SIGHUP are caught. The first gives up the
// start, which closes what is open already; after the start it ends StopRequested, and the Runner begins its stop at once.
// The second ends the process. A start that goes on after the first, in a node that ignores its context, ends the process
// with exit code 1 after the shutdown timeout and two seconds.
func Register(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) *Reg {
	r := newReg()
	log := context.WithoutCancel(ctx)
	ctx, r.watch = signals.New(ctx, signals.Handler{
		First: func(s os.Signal) { r.interrupted(log, s) },
		Next: func(s os.Signal) {
			watchdog.Log(func() { initLog.Warn(log, "second signal: ending at once", slog.String("signal", s.String())) })
			exit(signals.ExitCode(s))
		},
	})
	if err := r.begin(ctx, nodes, append(slices.Clip(opts), defaultNode), report); err != nil {
		exit(1)
		r.watch.Stop() // only where exit has returned: until then a signal must not take the exit code away
		return nil
	}
	return r
}

// interrupted logs the first signal. The start that it interrupts has the shutdown timeout to return; a program without
// a Runner bounds its own stop.
func (r *Reg) interrupted(ctx context.Context, s os.Signal) {
	message := "start interrupted"
	if r.step.Load() == nil {
		message = "stop requested"
	}
	watchdog.Log(func() { initLog.Notice(ctx, message, slog.String("signal", s.String())) })
	time.AfterFunc(r.Settings().ShutdownTimeout+watchdog.Grace, func() {
		if step := r.step.Load(); step != nil {
			const message = "shutdown timeout exceeded, exiting: a step of the start does not return"
			watchdog.Log(func() { initLog.Error(ctx, message, slog.String("step", *step)) })
			exit(1)
		}
	})
}

// defaultNode makes the application's id node that of the process as soon as it has started.
func defaultNode(p *startup.Plan) {
	p.AddPhase(startup.Phase{
		Name: "default " + snowflakeName, Key: xctx.Exec, Rank: startup.RankSnowflake,
		Start: func(ctx context.Context) (any, error) {
			return removal(xsnowflake.SetDefault(idNode(ctx.Value(xctx.SnowflakeNodeKey)))), nil
		},
	})
}

// removal is closed with the application.
type removal func()

// Close removes the default.
func (r removal) Close() { r() }

// report writes one line for each problem.
func report(ctx context.Context, err error) {
	for _, one := range problem.List(err) {
		initLog.Error(ctx, "start failed: "+one.Error())
	}
}
