package runner_test

import (
	"context"
	"fmt"
	"io"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xCron "github.com/plinthgo/plinth/cronx"
	xCronRunner "github.com/plinthgo/plinth/cronx/runner"
)

func ExampleNew() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	reg, err := xReg.New(ctx, nil,
		xOption.WithAddress("127.0.0.1:0"), xOption.WithDrainDelay(0),
		xOption.WithLogConfig(func(c *xLog.Config) { c.Writer, c.Dir = io.Discard, "" }),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	refresh := func(ctx context.Context) error {
		tick, _ := xCron.TickFrom(ctx)
		fmt.Println(tick.Name, tick.Time.Nanosecond())
		stop() // as SIGTERM would
		return nil
	}
	fmt.Println(xMain.RunContext(ctx, reg, nil, nil, xCronRunner.New(
		xCronRunner.WithRegister(xCron.NewJob("* * * * * *", refresh, xCron.WithName("refresh"))),
	)))
	// Output:
	// refresh 0
	// <nil>
}

func ExampleServe() {
	ctx, stop := context.WithCancel(context.Background())
	stop() // a program ends it when it has been told to stop
	fmt.Println(xCronRunner.Serve(ctx, xCronRunner.WithRegister(xCron.NewJob("@hourly", func(context.Context) {}))))
	fmt.Println(xCronRunner.Serve(ctx, xCronRunner.WithRegister(
		xCron.NewJob("0 25 * * *", func(context.Context) {}, xCron.WithName("report")))))
	// Output:
	// <nil>
	// xcronrunner: xcron: wrong job: "report": the spec "0 25 * * *": field 2 (hour) "25": end of range (25) above maximum (23): "25"
}
