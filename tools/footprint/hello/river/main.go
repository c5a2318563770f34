// Program river is program postgres with durable jobs in River.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/river"
	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	_ "github.com/plinthgo/plinth/dbplugins/postgres"
)

var pinged = job.NewKind[string]("pinged")

func main() {
	nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(river.Open())}}
	reg := xreg.Register(context.Background(), nodes, xoption.WithDatabase(xoptdatabase.FromEnv()),
		xoption.WithRoute(routes), xoption.WithHealth())
	xmain.Runner(reg, nil, nil,
		job.New(job.WithHandlers(pinged.Handle(func(ctx context.Context, by string) error {
			xlog.Info(ctx, "pinged by "+by)
			return nil
		}))))
}

func routes(_ context.Context, engine *gin.Engine) {
	engine.GET("/ping", func(c *gin.Context) {
		id, err := pinged.Enqueue(c.Request.Context(), "operator")
		if err != nil {
			_ = c.Error(err)
			return
		}
		xresult.SuccessHasData(c, "pong", id)
	})
}
