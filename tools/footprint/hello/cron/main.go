// Program cron is program core with a scheduled job.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/cronx"
	"github.com/plinthgo/plinth/cronx/runner"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	tick := cronx.NewJob("*/5 * * * *",
		func(ctx context.Context) { xlog.Info(ctx, "five minutes") })
	xmain.Runner(reg, nil, nil, runner.New(runner.WithRegister(tick)))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })
}
