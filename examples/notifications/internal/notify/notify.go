// Package notify tells people and services what has happened: the nodes that this takes,
// and the messages.
package notify

import (
	"context"
	"time"

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// takeOver is how long a crash may hold a mail up. The default of 30 s suits a service
// whose database is another host.
const takeOver = 5 * time.Second

// Nodes are what the application keeps. Each finds those before it.
func Nodes() []xregnode.Node {
	return []xregnode.Node{
		{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open(outbox.WithTakeOver(takeOver)))},
		{Key: sinkKey, Node: startSink},
		{Key: xctx.EmailClientKey, Node: openMail},
		{
			Key:  notifyx.RouterKey,
			Node: notifyx.InitRouter(notifyx.WithSenderFrom(notifyx.TypeEmail, mailSender)),
		},
		{Key: hooksKey, Node: openHooks},
	}
}

// Handlers do the jobs of what was stored.
func Handlers(ctx context.Context) []job.Handler {
	return []job.Handler{
		notifyx.MustGetRouter(ctx).Handler(),
		xctxutil.MustGet[*hooks](ctx, hooksKey).dispatcher.Handler(),
	}
}

func mailSender(ctx context.Context) (notifyx.Sender, error) {
	client, err := email.GetClient(ctx)
	if err != nil {
		return nil, err
	}
	return email.NewSender(client), nil
}
