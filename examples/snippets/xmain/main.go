// Command xmain is the program on the page of xMain: a service with a task beside it.
package main

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithRoute(routes))
	xMain.Runner(reg, xLog.WithName(xLog.NamedMAIN), nil, worker)
}

func worker(ctx context.Context, _ ...any) {
	for work(ctx) {
	}
}

// work does one thing, and reports whether there is more to do.
func work(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Second):
		return true
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/", func(c *gin.Context) { xResult.Success(c, "hello") })
}
