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
	seenTTL    = 15 * time.Minute // more than twice the tolerance of the verifier
	localHost  = "http://127.0.0.1:"
)

// HookPath is the route of the webhook receiver in this service. It is the default
// receiver; NOTIFICATIONS_HOOK_URL sets another.
const HookPath = "/hooks/receiver"

// hooks contains the sender and the receiver of the webhook.
type hooks struct {
	dispatcher *webhook.Dispatcher
	verifier   *receiver.Verifier
	seen       *xcache.KeyCache[string, bool] // processed IDs
}

// UserCreated stores the webhook for a new user in the transaction of ctx.
func UserCreated(ctx context.Context, user *entity.User) error {
	event := webhook.Event{
		Type: "user.created",
		Data: map[string]any{"id": user.ID, "username": user.Username},
	}
	_, err := xctxutil.MustGet[*hooks](ctx, hooksKey).dispatcher.Enqueue(ctx, endpointID, event)
	return err
}

// Verify returns a middleware that accepts each webhook signed by this service once. It
// stores the IDs in the cache. If a crash must not lose work, store them in the
// transaction of the work instead.
func Verify(ctx context.Context) gin.HandlerFunc {
	h := xctxutil.MustGet[*hooks](ctx, hooksKey)
	first := func(ctx context.Context, id string) (isNew bool, err error) {
		yes := true
		err = h.seen.Set(ctx, id, &yes, xcache.WithNX(), xcache.WithTTL(seenTTL),
			xcache.WithStored(&isNew))
		return isNew, err
	}
	return receiver.Middleware(h.verifier, receiver.WithSeen(first, h.seen.Delete))
}

// openHooks returns the sender and the receiver of the webhook.
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

// openDispatcher returns the dispatcher. It allows HTTP and loopback addresses, because
// the example is its own receiver. A service with external receivers needs neither option
// and reads its receivers from a table.
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

// sharedSecret returns the secret of the environment. By default this process is also the
// receiver, so it generates a secret.
func sharedSecret() (signature.Secret, error) {
	if text := xenv.GetEnvString(hookSecret, ""); text != "" {
		return signature.ParseSecret(text)
	}
	return signature.NewSecret(), nil
}
