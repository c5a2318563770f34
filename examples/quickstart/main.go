// Command quickstart is a whole service in one file: curl localhost:1118/hello/Ada
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
	reg := xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/hello/:name", func(c *gin.Context) {
		xResult.SuccessHasData(c, "Hello", gin.H{"name": c.Param("name")})
	})
}
