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

	xLog "github.com/plinthgo/plinth/core/common/xlog"
	xMiddle "github.com/plinthgo/plinth/core/major/xmiddle"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xNotify "github.com/plinthgo/plinth/notifyx"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

func openHooks() (*xWebhook.Dispatcher, error) {
	client, err := xWebhook.New()
	if err != nil {
		return nil, err
	}
	hooks, err := xWebhook.NewDispatcher(receivers{}, client, xWebhook.WithOnGone(disable))
	return hooks, err
}

func checkURL(client *xWebhook.Client, url string) error {
	if err := client.CheckURL(url); err != nil {
		return err // before a URL is stored
	}
	return nil
}

func TestAServiceOpensItsHooks(t *testing.T) {
	if hooks, err := openHooks(); err != nil || hooks == nil {
		t.Errorf("openHooks = %v, %v", hooks, err)
	}
	if err := checkURL(newClient(t), "https://169.254.169.254/"); err == nil {
		t.Error("an address of the metadata was taken")
	}
}

// rotated is an endpoint whose receiver is about to change to another secret.
func rotated(url string, newer, older xWebhook.Secret) xWebhook.Endpoint {
	return xWebhook.Endpoint{URL: url, Secrets: []xWebhook.Secret{newer, older}}
}

// mountHook mounts a handler of webhooks.
func mountHook(engine *gin.Engine, secret xWebhook.Secret) error {
	log := xLog.WithName(xLog.NamedCONT)
	verifier, err := xWebhook.NewVerifier([]xWebhook.Secret{secret})
	if err != nil {
		return err
	}
	engine.POST("/hook", xWebhook.Middleware(verifier), func(c *gin.Context) {
		delivery, _ := xWebhook.DeliveryFrom(c)
		log.Info(c, "received", slog.String("id", delivery.ID)) // with an id that is known: nothing to do
		xResult.Success(c, "ok")
	})
	return nil
}

func TestBothSecretsOfARotationAreTaken(t *testing.T) {
	capture(t)
	older, newer := xWebhook.NewSecret(), xWebhook.NewSecret()
	for _, known := range []xWebhook.Secret{older, newer} {
		engine := gin.New()
		if err := mountHook(engine, known); err != nil {
			t.Fatal(err)
		}
		service := serve(t, engine.ServeHTTP)
		endpoints := xWebhook.StaticEndpoints{"shop": rotated(service.URL+"/hook", newer, older)}
		if result, err := tellShop(t.Context(), endpoints, newClient(t)); err != nil || !result.Success {
			t.Errorf("tellShop = %+v, %v", result, err)
		}
	}
}

// once lets the handler see an id once.
func once(verifier *xWebhook.Verifier, first xWebhook.First, forget xWebhook.Forget) gin.HandlerFunc {
	return xWebhook.Middleware(verifier, xWebhook.WithSeen(first, forget))
}

func TestARepeatIsNotHandled(t *testing.T) {
	secret := xWebhook.NewSecret()
	verifier, err := xWebhook.NewVerifier([]xWebhook.Secret{secret})
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
	engine.Use(xMiddle.ResponseMiddleware)
	engine.POST("/hook", once(verifier, first, func(context.Context, string) error { return nil }), func(c *gin.Context) {
		handled++
		xResult.Success(c, "ok")
	})
	service := serve(t, engine.ServeHTTP)
	to := xWebhook.Endpoint{ID: "shop", URL: service.URL + "/hook", Secrets: []xWebhook.Secret{secret}}
	for range 2 {
		if _, err := newClient(t).Send(t.Context(), to, xWebhook.Event{ID: "msg_1", Type: "order.paid"}); err != nil {
			t.Error(err)
		}
	}
	if handled != 1 {
		t.Errorf("handled %d times, want once", handled)
	}
}

// tellShop sends a message as a webhook.
func tellShop(ctx context.Context, endpoints xWebhook.Endpoints, client *xWebhook.Client) (xNotify.Result, error) {
	sender := xWebhook.NewSender(endpoints, client) // or hooks.Sender(), which stores
	result, err := sender.Send(ctx, &xNotify.Message{
		ID: "order-17", Type: xNotify.TypeWebhook, To: []string{"shop"}, Subject: "order.paid", Content: `{"order":17}`,
	})
	return result, err
}

func TestAMessageIsAWebhook(t *testing.T) {
	var body []byte
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { body, _ = io.ReadAll(r.Body) }))
	defer service.Close()
	result, err := tellShop(t.Context(), xWebhook.StaticEndpoints{"shop": endpoint(service.URL)}, newClient(t))
	if err != nil || !result.Success || len(body) == 0 {
		t.Errorf("tellShop = %+v, %v, with the body %q", result, err, body)
	}
}
