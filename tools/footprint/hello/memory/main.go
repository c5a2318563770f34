// Program memory is program core with an in-memory cache.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	_ "github.com/plinthgo/plinth/cacheplugins/memory"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithCache(xoptcache.FromEnv()),
		xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	visits := xcache.KeyCacheOf[string, int](xcache.MustGetManager(ctx))
	engine.GET("/ping", func(c *gin.Context) {
		n, _, err := visits.Get(c.Request.Context(), "visits")
		if err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "pong", n)
	})
}
