package xreg

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/plinthgo/plinth/core/major/internal/report"
	"github.com/plinthgo/plinth/core/major/internal/signals"
	"github.com/plinthgo/plinth/core/major/internal/startup"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// exit ends the process.
var exit = os.Exit

// Register is New for a main function: when the start fails it writes one line for each
// problem and ends the program with exit code 1.
//
// From its beginning to the end of the Runner, or to Close, SIGINT, SIGTERM and SIGHUP
// are caught. The first gives up the start, which closes what is open already; after the
// start it ends StopRequested, and the Runner begins its stop at once. The second ends
// the process. A start that goes on after the first, in a node that ignores its context,
// ends the process with exit code 1 after the shutdown timeout and two seconds.
func Register(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) *Reg {
	r := newReg()
	log := context.WithoutCancel(ctx)
	ctx, r.watch = signals.New(ctx, func(s os.Signal, first bool) {
		if first {
			r.interrupted(log, s)
			return
		}
		report.Bounded(func() {
			initLog.Warn(log, "second signal: ending at once", slog.String("signal", s.String()))
		})
		exit(signals.ExitCode(s))
	})
	opts = append(slices.Clip(opts), func(p *startup.Plan) { p.DefaultNode = true })
	if err := r.begin(ctx, nodes, opts); err != nil {
		const failed = "start failed: "
		report.Problems(r.Init.Ctx, initLog, failed, err)
		report.Problems(r.Init.Ctx, initLog, failed, r.giveUp())
		_ = r.closeLog()
		exit(1)
		// only where exit has returned: until then a signal must not take the exit code
		// away
		r.watch.Stop()
		return nil
	}
	return r
}

// interrupted logs the first signal. The start that it interrupts has the shutdown
// timeout to return; a program without a Runner bounds its own stop.
func (r *Reg) interrupted(ctx context.Context, s os.Signal) {
	message := "start interrupted"
	if r.step.Load() == nil {
		message = "stop requested"
	}
	report.Bounded(func() { initLog.Notice(ctx, message, slog.String("signal", s.String())) })
	time.AfterFunc(r.Settings().ShutdownTimeout+signals.Grace, func() {
		if step := r.step.Load(); step != nil {
			const message = "shutdown timeout exceeded, exiting: a step of the start does not return"
			report.Bounded(func() { initLog.Error(ctx, message, slog.String("step", *step)) })
			exit(1)
		}
	})
}
