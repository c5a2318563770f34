// Program protovalidate is program coregrpc with validation of messages by the rules in
// their .proto files.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/grpcx/protovalidate"
	"github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	reg := xreg.Register(context.Background(), nil, xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil, runner.New(runner.WithValidation(protovalidate.MustNew())))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xresult.Success(c, "pong") })
}
