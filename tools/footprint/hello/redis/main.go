// Program redis is program core with a cache on Redis.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithCache(xOptCache.FromEnv()), xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	visits := xCache.KeyCacheOf[string, int](xCache.MustGetManager(ctx))
	engine.GET("/ping", func(c *gin.Context) { //nolint:contextcheck // gin's context is the one
		n, _, err := visits.Get(c.Request.Context(), "visits")
		if err != nil {
			_ = c.Error(err)
			return
		}
		xResult.SuccessHasData(c, "pong", n)
	})
}
