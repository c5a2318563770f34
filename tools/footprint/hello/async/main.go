// Program async is program core with work in the background.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xAsync "github.com/plinthgo/plinth/asyncx"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) {
		xAsync.Async(c.Request.Context(), func(ctx context.Context) { xLog.Info(ctx, "pinged") })
		xResult.Success(c, "pong")
	})
}
