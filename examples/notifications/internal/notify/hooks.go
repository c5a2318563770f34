package notify

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xEnv "github.com/plinthgo/plinth/core/defined/xenv"
	xCache "github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/examples/notifications/internal/entity"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

const (
	hooksKey   xCtx.ContextKey = "notifications_hooks"
	hookURL    xEnv.EnvKey     = "NOTIFICATIONS_HOOK_URL"
	hookSecret xEnv.EnvKey     = "NOTIFICATIONS_HOOK_SECRET"
)

const (
	receiver  = "crm"
	remember  = 15 * time.Minute // above twice the tolerance of the verifier
	localHost = "http://127.0.0.1:"
)

// HookPath is where the service receives the webhook that it sends, unless NOTIFICATIONS_HOOK_URL leads elsewhere.
const HookPath = "/hooks/receiver"

// hooks are both sides of the webhook.
type hooks struct {
	dispatcher *xWebhook.Dispatcher
	verifier   *xWebhook.Verifier
	seen       *xCache.KeyCache[string, bool] // the ids that have come
}

// UserCreated stores the webhook that tells of a user, in the transaction of ctx.
func UserCreated(ctx context.Context, user *entity.User) error {
	data := map[string]any{"id": user.ID, "username": user.Username}
	_, err := xCtxUtil.MustGet[*hooks](ctx, hooksKey).dispatcher.Enqueue(ctx, receiver, "user.created", data)
	return err
}

// Verify lets the webhooks pass that the service has signed, each once. The cache remembers their ids: where work must not
// be lost with a process, its transaction remembers them instead.
func Verify(ctx context.Context) gin.HandlerFunc {
	h := xCtxUtil.MustGet[*hooks](ctx, hooksKey)
	first := func(ctx context.Context, id string) (isNew bool, err error) {
		yes := true
		err = h.seen.Set(ctx, id, &yes, xCache.WithNX(), xCache.WithTTL(remember), xCache.WithStored(&isNew))
		return isNew, err
	}
	return xWebhook.Middleware(h.verifier, xWebhook.WithSeen(first, h.seen.Delete))
}

// openHooks is the node of the webhook.
func openHooks(ctx context.Context) (any, error) {
	secret, err := sharedSecret()
	if err != nil {
		return nil, err
	}
	manager, missing := xCache.GetManager(ctx)
	if missing != nil {
		return nil, missing
	}
	dispatcher, err := openDispatcher(secret)
	if err != nil {
		return nil, err
	}
	verifier, err := xWebhook.NewVerifier([]xWebhook.Secret{secret})
	if err != nil {
		return nil, err
	}
	seen := xCache.KeyCacheOf[string, bool](manager, xCache.WithName("hook"), xCache.WithKeyPrefix("hook:"))
	return &hooks{dispatcher: dispatcher, verifier: verifier, seen: seen}, nil
}

// openDispatcher returns what sends. Plain HTTP and this host are allowed because the receiver of a sample is the sample: a
// service whose receivers are others' has neither of the two options, and finds receivers in a table.
func openDispatcher(secret xWebhook.Secret) (*xWebhook.Dispatcher, error) {
	client, err := xWebhook.New(xWebhook.WithHTTP(), xWebhook.WithAllowLoopback())
	if err != nil {
		return nil, err
	}
	url := xEnv.GetEnvString(hookURL, localHost+xEnv.GetEnvString(xEnv.Port, "1118")+HookPath)
	if err := client.CheckURL(url); err != nil {
		return nil, err
	}
	return xWebhook.NewDispatcher(xWebhook.StaticEndpoints{receiver: {URL: url, Secrets: []xWebhook.Secret{secret}}}, client)
}

// sharedSecret returns that of the environment. Where there is none, both sides are this process, and a new one will do.
func sharedSecret() (xWebhook.Secret, error) {
	if text := xEnv.GetEnvString(hookSecret, ""); text != "" {
		return xWebhook.ParseSecret(text)
	}
	return xWebhook.NewSecret(), nil
}
