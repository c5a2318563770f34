// Package notify tells people and services what has happened: the nodes that this takes, and the messages.
package notify

import (
	"context"
	"time"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xOutbox "github.com/plinthgo/plinth/asyncx/outbox"
	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xNotify "github.com/plinthgo/plinth/notifyx"
	xEmail "github.com/plinthgo/plinth/notifyx/email"
)

// takeOver is how long a crash may hold a mail up. The default of 30 s suits a service whose database is another host.
const takeOver = 5 * time.Second

// Nodes are what the application keeps. Each finds those before it.
func Nodes() []xRegNode.RegNodeList {
	return []xRegNode.RegNodeList{
		{Key: xCtx.JobQueueKey, Node: xJob.Init(xOutbox.Open(xOutbox.WithTakeOver(takeOver)))},
		{Key: sinkKey, Node: startSink},
		{Key: xCtx.EmailClientKey, Node: openMail},
		{Key: xNotify.RouterKey, Node: xNotify.InitRouter(xNotify.WithSenderFrom(xNotify.TypeEmail, mailSender))},
		{Key: hooksKey, Node: openHooks},
	}
}

// Handlers do the jobs of what was stored.
func Handlers(ctx context.Context) []xJob.Handler {
	return []xJob.Handler{
		xNotify.MustGetRouter(ctx).Handler(),
		xCtxUtil.MustGet[*hooks](ctx, hooksKey).dispatcher.Handler(),
	}
}

func mailSender(ctx context.Context) (xNotify.Sender, error) {
	client, err := xEmail.GetClient(ctx)
	if err != nil {
		return nil, err
	}
	return xEmail.NewSender(client), nil
}
