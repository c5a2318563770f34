// Program async is program core with a background task.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/asyncx"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) {
		asyncx.Async(c.Request.Context(), func(ctx context.Context) { xlog.Info(ctx, "pinged") })
		xresult.Success(c, "pong")
	})
}
