package xreg

import (
	"context"
	"errors"
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

var exit = os.Exit

// Register is like New for a main function: if the startup fails, it logs one line for
// each problem and exits with code 1.
//
// It catches SIGINT, SIGTERM and SIGHUP until the Runner returns or Close is called. The
// first signal aborts the startup and closes what is open. After the startup the first
// signal cancels StopRequested, and the Runner starts the shutdown. A second signal exits
// immediately. If a node ignores its context, an interrupted startup exits with code 1
// two seconds after the shutdown timeout.
//
// With xoption.WithInspect, Register exits with code 0 after the inspection.
func Register(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) *Reg {
	r := newReg()
	log := context.WithoutCancel(ctx)
	ctx, r.watch = signals.New(ctx, func(s os.Signal, first bool) {
		if first {
			r.handleFirstSignal(log, s)
			return
		}
		report.Bounded(func() {
			initLog.Warn(log, "second signal: exiting immediately",
				slog.String("signal", s.String()))
		})
		exit(signals.ExitCode(s))
	})
	opts = append(slices.Clip(opts), func(p *startup.Plan) { p.DefaultNode = true })
	err := r.start(ctx, nodes, opts)
	if errors.Is(err, errInspected) {
		exit(0)
		r.watch.Stop() // only tests, which replace exit, reach this line
		return nil
	}
	if err != nil {
		const failed = "start failed: "
		report.Problems(r.Init.Ctx, initLog, failed, err)
		report.Problems(r.Init.Ctx, initLog, failed, r.closeStarted())
		_ = r.closeLog()
		exit(1)
		// Only tests, which replace exit, reach this line. The watch must not stop
		// earlier, because a signal would then change the exit code.
		r.watch.Stop()
		return nil
	}
	return r
}

// handleFirstSignal logs the first signal. If it interrupts the startup, the startup must
// return within the shutdown timeout. After the startup no limit applies here, because
// the Runner or the program limits its shutdown.
func (r *Reg) handleFirstSignal(ctx context.Context, s os.Signal) {
	message := "start interrupted"
	if r.step.Load() == nil {
		message = "stop requested"
	}
	report.Bounded(func() { initLog.Notice(ctx, message, slog.String("signal", s.String())) })
	time.AfterFunc(r.Settings().ShutdownTimeout+signals.Grace, func() {
		if step := r.step.Load(); step != nil {
			const message = "shutdown timeout exceeded, exiting: a startup step did not return"
			report.Bounded(func() { initLog.Error(ctx, message, slog.String("step", *step)) })
			exit(1)
		}
	})
}
