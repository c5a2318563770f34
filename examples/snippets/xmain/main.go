// Command xmain is the example of the page xmain: a service with a task.
package main

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes))
	xmain.Runner(reg, xlog.WithName(xlog.NamedMAIN), nil, worker)
}

func worker(ctx context.Context, _ ...any) {
	for work(ctx) {
	}
}

// work processes one item and reports whether more work is left.
func work(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Second):
		return true
	}
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/", func(c *gin.Context) { xresult.Success(c, "hello") })
}
