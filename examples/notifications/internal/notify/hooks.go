package notify

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

const (
	hooksKey   xctx.ContextKey = "notifications_hooks"
	hookURL    xenv.EnvKey     = "NOTIFICATIONS_HOOK_URL"
	hookSecret xenv.EnvKey     = "NOTIFICATIONS_HOOK_SECRET"
)

const (
	endpointID = "crm"
	remember   = 15 * time.Minute // above twice the tolerance of the verifier
	localHost  = "http://127.0.0.1:"
)

// HookPath is where the service receives the webhook that it sends, unless
// NOTIFICATIONS_HOOK_URL leads elsewhere.
const HookPath = "/hooks/receiver"

// hooks are both sides of the webhook.
type hooks struct {
	dispatcher *webhook.Dispatcher
	verifier   *receiver.Verifier
	seen       *xcache.KeyCache[string, bool] // the ids that have come
}

// UserCreated stores the webhook that tells of a user, in the transaction of ctx.
func UserCreated(ctx context.Context, user *entity.User) error {
	event := webhook.Event{
		Type: "user.created",
		Data: map[string]any{"id": user.ID, "username": user.Username},
	}
	_, err := xctxutil.MustGet[*hooks](ctx, hooksKey).dispatcher.Enqueue(ctx, endpointID, event)
	return err
}

// Verify lets the webhooks pass that the service has signed, each once. The cache
// remembers their ids: where work must not be lost with a process, its transaction
// remembers them instead.
func Verify(ctx context.Context) gin.HandlerFunc {
	h := xctxutil.MustGet[*hooks](ctx, hooksKey)
	first := func(ctx context.Context, id string) (isNew bool, err error) {
		yes := true
		err = h.seen.Set(ctx, id, &yes, xcache.WithNX(), xcache.WithTTL(remember),
			xcache.WithStored(&isNew))
		return isNew, err
	}
	return receiver.Middleware(h.verifier, receiver.WithSeen(first, h.seen.Delete))
}

// openHooks is the node of the webhook.
func openHooks(ctx context.Context) (any, error) {
	secret, err := sharedSecret()
	if err != nil {
		return nil, err
	}
	manager, missing := xcache.GetManager(ctx)
	if missing != nil {
		return nil, missing
	}
	dispatcher, err := openDispatcher(secret)
	if err != nil {
		return nil, err
	}
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		return nil, err
	}
	seen := xcache.KeyCacheOf[string, bool](manager, xcache.WithName("hook"),
		xcache.WithKeyPrefix("hook:"))
	return &hooks{dispatcher: dispatcher, verifier: verifier, seen: seen}, nil
}

// openDispatcher returns what sends. Plain HTTP and this host are allowed because the
// receiver of a sample is the sample: a service whose receivers are others' has neither
// of the two options, and finds receivers in a table.
func openDispatcher(secret signature.Secret) (*webhook.Dispatcher, error) {
	client, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback())
	if err != nil {
		return nil, err
	}
	url := xenv.GetEnvString(hookURL, localHost+xenv.GetEnvString(xenv.Port, "1118")+HookPath)
	if err := client.CheckURL(url); err != nil {
		return nil, err
	}
	return webhook.NewDispatcher(webhook.StaticEndpoints{endpointID: {
		URL:     url,
		Secrets: []signature.Secret{secret},
	}}, client)
}

// sharedSecret returns that of the environment. Where there is none, both sides are this
// process, and a new one will do.
func sharedSecret() (signature.Secret, error) {
	if text := xenv.GetEnvString(hookSecret, ""); text != "" {
		return signature.ParseSecret(text)
	}
	return signature.NewSecret(), nil
}
