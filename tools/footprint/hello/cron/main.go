// Program cron is program core with a job on a schedule.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xCron "github.com/plinthgo/plinth/cronx"
	xCronRunner "github.com/plinthgo/plinth/cronx/runner"
)

func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth())
	tick := xCron.NewJob("*/5 * * * *", func(ctx context.Context) { xLog.Info(ctx, "five minutes") })
	xMain.Runner(reg, nil, nil, xCronRunner.New(xCronRunner.WithRegister(tick)))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xResult.Success(c, "pong") })
}
