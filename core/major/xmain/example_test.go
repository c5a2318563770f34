package xmain_test

import (
	"context"
	"fmt"
	"io"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
)

func ExampleRunContext() {
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
	worker := func(ctx context.Context, _ ...any) {
		xhook.OnStop(ctx, "worker", func(context.Context) error {
			fmt.Println("stop hook")
			return nil
		})
		stop() // like SIGTERM
		<-ctx.Done()
		fmt.Println("worker stopped")
	}
	fmt.Println(xmain.RunContext(ctx, reg, nil, nil, worker))
	// Output:
	// worker stopped
	// stop hook
	// <nil>
}
