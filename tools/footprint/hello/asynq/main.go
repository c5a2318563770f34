// Program asynq is program redis with durable jobs in asynq.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xAsynq "github.com/plinthgo/plinth/asyncx/asynq"
	xJob "github.com/plinthgo/plinth/asyncx/job"
	_ "github.com/plinthgo/plinth/cacheplugins/redis"
	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptCache "github.com/plinthgo/plinth/core/major/xoption/xoptcache"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
)

var pinged = xJob.NewKind[string]("pinged")

func main() {
	nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xAsynq.Open())}}
	reg := xReg.Register(context.Background(), nodes, xOption.WithCache(xOptCache.FromEnv()), xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil, xJob.New(xJob.WithHandlers(pinged.Handle(func(ctx context.Context, by string) error {
		xLog.Info(ctx, "pinged by "+by)
		return nil
	}))))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) {
		id, err := pinged.Enqueue(c.Request.Context(), "somebody")
		if err != nil {
			_ = c.Error(err)
			return
		}
		xResult.SuccessHasData(c, "pong", id)
	})
}
