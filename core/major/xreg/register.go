package xreg

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// exit ends the process.
var exit = os.Exit

// Register is New for a main function: when the start fails it writes one line for each problem and ends the program
// with exit code 1. SIGINT and SIGTERM give up the start, which closes what is open already; a second signal ends the
// process at once.
func Register(ctx context.Context, nodes []xRegNode.RegNodeList, opts ...xOption.Option) *Reg {
	start, stop := interruptible(ctx)
	reg, err := begin(start, nodes, opts, report)
	stop()
	if err != nil {
		exit(1)
		return nil
	}
	reg.parent = ctx
	return reg
}

// report writes one line for each problem.
func report(ctx context.Context, err error) {
	for _, problem := range Problems(err) {
		initLog.Error(ctx, "start failed: "+problem.Error())
	}
}

// interruptible returns a context that ends with the first signal. From then on signals have their usual effect.
func interruptible(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case s := <-signals:
			signal.Stop(signals)
			initLog.Notice(ctx, "start interrupted", slog.String("signal", s.String()))
			cancel(fmt.Errorf("interrupted by signal: %s", s))
		case <-done:
			signal.Stop(signals)
		}
	}()
	return ctx, func() {
		close(done)
		<-ended
		cancel(nil)
	}
}
