package xreg

import (
	"context"
	"os"
	"slices"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/internal/problem"
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
// start, which closes what is open already; after the start it closes Done, and the Runner begins its stop at once. The
// second ends the process. A start that goes on after the first, in a node that ignores its context, ends the process
// with exit code 1 after the shutdown timeout and two seconds.
func Register(ctx context.Context, nodes []xregnode.Node, opts ...xoption.Option) *Reg {
	ctx, w := signals.NewWatch(ctx, initLog, loadVariables().ShutdownTimeout, func(code int) { exit(code) })
	reg, err := begin(ctx, w, nodes, append(slices.Clip(opts), defaultNode), report)
	if err != nil {
		exit(1)
		w.Stop() // only where exit has returned: until then a signal must not take the exit code away
		return nil
	}
	return reg
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
