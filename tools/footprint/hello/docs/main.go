// Program docs is program core with the documentation in addition to its route.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/docs"
)

func main() {
	xmain.Runner(xreg.Register(context.Background(), nil, xoption.WithRoute(routes),
		xoption.WithHealth()), nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) {
	site, err := docs.New()
	if err != nil {
		panic(err) // the content is embedded
	}
	engine.GET("/", func(c *gin.Context) { xresult.Success(c, "hello") })
	engine.Any("/docs/*page", gin.WrapH(site))
}
