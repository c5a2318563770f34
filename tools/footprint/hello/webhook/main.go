// Program webhook is program core with a client for webhooks.
package main

import (
	"context"

	"github.com/gin-gonic/gin"

	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

const clientKey = "webhook_client"

func main() {
	nodes := []xRegNode.RegNodeList{{Key: clientKey, Node: func(context.Context) (any, error) { return xWebhook.New() }}}
	reg := xReg.Register(context.Background(), nodes, xOption.WithRoute(routes), xOption.WithHealth())
	xMain.Runner(reg, nil, nil)
}

func routes(ctx context.Context, engine *gin.Engine) {
	client, _ := ctx.Value(clientKey).(*xWebhook.Client)
	receiver := xWebhook.Endpoint{ID: "shop", URL: "https://example.org/hook", Secrets: []xWebhook.Secret{xWebhook.NewSecret()}}
	engine.GET("/ping", func(c *gin.Context) { //nolint:contextcheck // gin's context is the one
		if _, err := client.Send(c.Request.Context(), receiver, xWebhook.Event{Type: "pinged", Data: "pong"}); err != nil {
			_ = c.Error(err)
			return
		}
		xResult.Success(c, "pong")
	})
}
