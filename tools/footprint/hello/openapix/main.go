// Program openapix is program core with a typed route and its OpenAPI document. It also
// links the reference page.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/openapix"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), openapix.Serve(),
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(_ context.Context, engine *gin.Engine) { xapi.Get(engine, "/ping", ping) }

func ping(context.Context, *struct{}) (string, error) { return "pong", nil }
