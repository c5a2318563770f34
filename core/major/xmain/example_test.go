package xmain_test

import (
	"context"
	"fmt"
	"io"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xHook "github.com/plinthgo/plinth/core/major/xhook"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
)

func ExampleRunContext() {
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
	worker := func(ctx context.Context, _ ...any) {
		xHook.OnStop(ctx, "worker", func(context.Context) error {
			fmt.Println("hook")
			return nil
		})
		stop() // as SIGTERM would
		<-ctx.Done()
		fmt.Println("worker ends")
	}
	fmt.Println(xMain.RunContext(ctx, reg, nil, nil, worker))
	// Output:
	// worker ends
	// hook
	// <nil>
}
