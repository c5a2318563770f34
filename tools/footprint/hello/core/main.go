// Program core is the smallest service on the core of Plinth: one route, with request
// IDs, logs, errors, health checks and graceful shutdown.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	xmain.Runner(xreg.Register(context.Background(), nil, xoption.WithRoute(routes),
		xoption.WithHealth()), nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })
}
