// Package notify sends notifications. It provides the components for email and webhooks,
// and composes the messages.
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

// takeOver is the time after which another worker performs the jobs of a crashed one.
// The default of 30 s suits a service with a remote database.
const takeOver = 5 * time.Second

// Nodes returns the components of the package. Each may use those before it.
func Nodes() []xregnode.Node {
	return []xregnode.Node{
		{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open(outbox.WithTakeoverTimeout(takeOver)))},
		{Key: sinkKey, Node: startSink},
		{Key: xctx.EmailClientKey, Node: openMail},
		{
			Key:  notifyx.RouterKey,
			Node: notifyx.InitRouter(notifyx.WithSenderFrom(notifyx.TypeEmail, mailSender)),
		},
		{Key: hooksKey, Node: openHooks},
	}
}

// Handlers returns the handlers of the stored messages and webhooks.
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
