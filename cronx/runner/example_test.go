package runner_test

import (
	"context"
	"fmt"
	"io"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
)

func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reg, err := xreg.New(ctx, nil,
		xoption.WithAddress("127.0.0.1:0"), xoption.WithDrainDelay(0),
		xoption.WithLogConfig(func(c *xlog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	refresh := func(ctx context.Context) error {
		tick, _ := cronx.TickFrom(ctx)
		fmt.Println(tick.Name, tick.Time.Nanosecond())
		stop() // like SIGTERM
		return nil
	}
	fmt.Println(xmain.RunContext(ctx, reg, nil, nil, runner.New(
		runner.WithRegister(cronx.NewJob("* * * * * *", refresh, cronx.WithName("refresh"))),
	)))
	// Output:
	// refresh 0
	// <nil>
}

func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // stop it when the program shuts down
	fmt.Println(runner.Serve(ctx,
		runner.WithRegister(cronx.NewJob("@hourly", func(context.Context) {}))))
	fmt.Println(runner.Serve(ctx, runner.WithRegister(
		cronx.NewJob("0 25 * * *", func(context.Context) {}, cronx.WithName("report")))))
	// Output:
	// <nil>
	// cronx/runner: cronx: invalid job: "report": spec "0 25 * * *": field 2 (hour) "25": end of range (25) above maximum (23): "25"
}
