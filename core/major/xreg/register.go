package xreg

import (
	"context"
	"os"

	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
)

// exit ends the process.
var exit = os.Exit

// Register is New for a main function: when the start fails it writes one line for each problem and ends the program
// with exit code 1.
//
// From its beginning to the end of the Runner, or to Close, SIGINT and SIGTERM are caught. The first gives up the start,
// which closes what is open already; after the start it closes Done, and the Runner begins its stop at once. The second
// ends the process.
func Register(ctx context.Context, nodes []xRegNode.RegNodeList, opts ...xOption.Option) *Reg {
	ctx, w := watchSignals(ctx)
	reg, err := begin(ctx, nodes, opts, report)
	if err != nil {
		exit(1)
		w.stop() // only where exit has returned: until then a signal must not take the exit code away
		return nil
	}
	reg.watch = w
	return reg
}

// report writes one line for each problem.
func report(ctx context.Context, err error) {
	for _, problem := range Problems(err) {
		initLog.Error(ctx, "start failed: "+problem.Error())
	}
}
