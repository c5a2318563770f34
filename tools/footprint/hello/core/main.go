// Program core is the smallest service on Plinth's core: one route, with ids, logs, errors, health and
// shutdown.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	xMain.Runner(xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth()), nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xResult.Success(c, "pong") })
}
