// Program protovalidate is program coregrpc that checks messages by the rules in their proto.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xGrpcProtoValidate "github.com/plinthgo/plinth/grpcx/protovalidate"
	xGrpcRunner "github.com/plinthgo/plinth/grpcx/runner"
)

func main() {
	reg := xReg.Register(context.Background(), nil, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil, xGrpcRunner.New(xGrpcRunner.WithValidation(xGrpcProtoValidate.MustNew())))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) { xResult.Success(c, "pong") })
}
