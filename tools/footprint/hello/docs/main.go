// Program docs is program core with the documentation beside its route.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xDocs "github.com/plinthgo/plinth/docs"
)

func main() {
	xMain.Runner(xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth()), nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	site, err := xDocs.New()
	if err != nil {
		panic(err) // the content is embedded
	}
	engine.GET("/", func(c *gin.Context) { xResult.Success(c, "hello") })
	engine.Any("/docs/*page", gin.WrapH(site))
}
