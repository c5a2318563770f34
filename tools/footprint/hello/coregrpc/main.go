// Program coregrpc is program core with a gRPC server in addition to HTTP.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil, runner.New())
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })
}
