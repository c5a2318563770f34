// Program webhook is program core with a webhook client.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

const clientKey = "webhook_client"

func main() {
	nodes := []xregnode.Node{{
		Key:  clientKey,
		Node: func(context.Context) (any, error) { return webhook.New() },
	}}
	reg := xreg.Register(context.Background(), nodes, xoption.WithRoute(routes),
		xoption.WithHealth())
	xmain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	client, _ := ctx.Value(clientKey).(*webhook.Client)
	receiver := webhook.Endpoint{
		ID: "shop", URL: "https://example.org/hook",
		Secrets: []signature.Secret{signature.NewSecret()},
	}
	engine.GET("/ping", func(c *gin.Context) {
		if _, err := client.Send(c.Request.Context(), receiver,
			webhook.Event{Type: "pinged", Data: "pong"}); err != nil {
			_ = c.Error(err)
			return
		}
		xresult.Success(c, "pong")
	})
}
