// Command quickstart is a whole service in one file: curl localhost:1118/hello/Ada
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
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/hello/:name", func(c *gin.Context) {
		xresult.SuccessHasData(c, "Hello", gin.H{"name": c.Param("name")})
	})
}
