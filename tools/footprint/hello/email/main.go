// Program email is program core with an email client.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/email"
)

func main() {
	nodes := []xregnode.Node{{Key: xctx.EmailClientKey, Node: email.InitClient}}
	reg := xreg.Register(context.Background(), nodes, xoption.WithRoute(routes),
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	client := email.MustGetClient(ctx)
	engine.GET("/ping", func(c *gin.Context) {
		if err := client.Send(c.Request.Context(), &email.Message{
			To:      []string{"ada@example.org"},
			Subject: "pong", Text: "pong",
		}); err != nil {
			_ = c.Error(err)
			return
		}
		xresult.Success(c, "pong")
	})
}
