package webhook_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func openHooks() (*webhook.Dispatcher, error) {
	client, err := webhook.New()
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.NewDispatcher(receivers{}, client, webhook.WithOnGone(disable))
	return hooks, err
}

func checkURL(client *webhook.Client, url string) error {
	if err := client.CheckURL(url); err != nil {
		return err // validate before the URL is stored
	}
	return nil
}

func TestOpenHooks(t *testing.T) {
	if hooks, err := openHooks(); err != nil || hooks == nil {
		t.Errorf("openHooks = %v, %v", hooks, err)
	}
	if err := checkURL(newClient(t), "https://169.254.169.254/"); err == nil {
		t.Error("metadata address accepted")
	}
}

// rotated returns an endpoint during a rotation of its secret.
func rotated(url string, newer, older signature.Secret) webhook.Endpoint {
	return webhook.Endpoint{URL: url, Secrets: []signature.Secret{newer, older}}
}

// mountHook registers a webhook handler.
func mountHook(engine *gin.Engine, secret signature.Secret) error {
	log := xlog.WithName(xlog.NamedCONT)
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		return err
	}
	engine.POST("/hook", receiver.Middleware(verifier), func(c *gin.Context) {
		delivery, _ := receiver.DeliveryFrom(c)
		// skip IDs that were processed before
		log.Info(c, "received", slog.String("id", delivery.ID))
		xresult.Success(c, "ok")
	})
	return nil
}

func TestMountHook(t *testing.T) {
	capture(t)
	older, newer := signature.NewSecret(), signature.NewSecret()
	for _, known := range []signature.Secret{older, newer} {
		engine := gin.New()
		if err := mountHook(engine, known); err != nil {
			t.Fatal(err)
		}
		service := serve(t, engine.ServeHTTP)
		endpoints := webhook.StaticEndpoints{"shop": rotated(service.URL+"/hook", newer, older)}
		if err := notifyShop(t.Context(), endpoints, newClient(t)); err != nil {
			t.Error(err)
		}
	}
}

// once returns a middleware that skips duplicate IDs.
func once(
	verifier *receiver.Verifier, first func(context.Context, string) (bool, error),
	forget func(context.Context, string) error,
) gin.HandlerFunc {
	return receiver.Middleware(verifier, receiver.WithSeen(first, forget))
}

func TestOnce(t *testing.T) {
	secret := signature.NewSecret()
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	first := func(_ context.Context, id string) (bool, error) {
		known := slices.Contains(seen, id)
		seen = append(seen, id)
		return !known, nil
	}
	handled := 0
	engine := gin.New()
	engine.Use(xmiddle.ResponseMiddleware)
	engine.POST("/hook", once(verifier, first, func(context.Context, string) error { return nil }),
		func(c *gin.Context) {
			handled++
			xresult.Success(c, "ok")
		})
	service := serve(t, engine.ServeHTTP)
	to := webhook.Endpoint{
		ID: "shop", URL: service.URL + "/hook", Secrets: []signature.Secret{secret},
	}
	for range 2 {
		if _, err := newClient(t).Send(t.Context(), to,
			webhook.Event{ID: "msg_1", Type: "order.paid"}); err != nil {
			t.Error(err)
		}
	}
	if handled != 1 {
		t.Errorf("handled %d times, want once", handled)
	}
}

// notifyShop sends a message as a webhook.
func notifyShop(ctx context.Context, endpoints webhook.Endpoints, client *webhook.Client) error {
	sender := webhook.NewSender(endpoints, client) // or hooks.Sender(), which stores events
	return sender.Send(ctx, &notifyx.Message{
		ID: "order-17", Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "order.paid",
		Content: `{"order":17}`,
	})
}

func TestNotifyShop(t *testing.T) {
	var body []byte
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
	}))
	defer service.Close()
	err := notifyShop(t.Context(), webhook.StaticEndpoints{"shop": endpoint(service.URL)},
		newClient(t))
	if err != nil || len(body) == 0 {
		t.Errorf("notifyShop = %v, with the body %q", err, body)
	}
}
