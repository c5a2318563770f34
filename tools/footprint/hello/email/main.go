// Program email is program core with a client for mail.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xEmail "github.com/plinthgo/plinth/notifyx/email"
)

func main() {
	nodes := []xRegNode.RegNodeList{{Key: xCtx.EmailClientKey, Node: xEmail.InitClient}}
	reg := xReg.Register(context.Background(), nodes, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	client := xEmail.MustGetClient(ctx)
	engine.GET("/ping", func(c *gin.Context) { //nolint:contextcheck // gin's context is the one
		if err := client.Send(c.Request.Context(), &xEmail.Message{To: []string{"ada@example.org"}, Subject: "pong", Text: "pong"}); err != nil {
			_ = c.Error(err)
			return
		}
		xResult.Success(c, "pong")
	})
}
