package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/gin-gonic/gin"

	xJob "github.com/plinthgo/plinth/asyncx/job"
	xOutbox "github.com/plinthgo/plinth/asyncx/outbox"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xMain "github.com/plinthgo/plinth/core/major/xmain"
	xMiddle "github.com/plinthgo/plinth/core/major/xmiddle"
	xOption "github.com/plinthgo/plinth/core/major/xoption"
	xOptDatabase "github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xRegNode "github.com/plinthgo/plinth/core/major/xreg/xregnode"
	xResult "github.com/plinthgo/plinth/core/major/xresult"
	xNotify "github.com/plinthgo/plinth/notifyx"
	xWebhook "github.com/plinthgo/plinth/notifyx/webhook"
)

func ExampleClient_Send() {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(string(body[:20]), r.Header.Get("Webhook-Id"))
	}))
	defer receiver.Close()

	client, err := xWebhook.New(xWebhook.WithHTTP(), xWebhook.WithAllowLoopback()) // without options, for the internet
	if err != nil {
		panic(err)
	}
	defer client.Close()
	secret := xWebhook.NewSecret() // secret.Reveal() is what the receiver gets, once
	result, err := client.Send(context.Background(),
		xWebhook.Endpoint{ID: "shop", URL: receiver.URL, Secrets: []xWebhook.Secret{secret}},
		xWebhook.Event{ID: "msg_1", Type: "order.paid", Data: map[string]any{"order": 17}})
	fmt.Println(result.Status, err)
	// Output:
	// {"type":"order.paid" msg_1
	// 200 <nil>
}

func ExampleClient_CheckURL() {
	client, err := xWebhook.New()
	if err != nil {
		panic(err)
	}
	for _, url := range []string{"https://example.com/hook", "http://example.com/hook", "https://169.254.169.254/"} {
		err := client.CheckURL(url)
		fmt.Println(err == nil, errors.Is(err, xWebhook.ErrURL), errors.Is(err, xWebhook.ErrBlockedAddress))
	}
	// Output:
	// true false false
	// false true false
	// false false true
}

func ExampleMiddleware() {
	secret := xWebhook.MustParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") // from the settings
	verifier, err := xWebhook.NewVerifier([]xWebhook.Secret{secret})
	if err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(xMiddle.ResponseMiddleware)
	engine.POST("/hook", xWebhook.Middleware(verifier), func(c *gin.Context) {
		delivery, _ := xWebhook.DeliveryFrom(c)
		fmt.Println("received", delivery.ID) // with an id that is known: nothing to do
		xResult.Success(c, "ok")
	})
	service := httptest.NewServer(engine)
	defer service.Close()

	client, err := xWebhook.New(xWebhook.WithHTTP(), xWebhook.WithAllowLoopback())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	for _, secret := range []xWebhook.Secret{secret, xWebhook.NewSecret()} {
		result, _ := client.Send(context.Background(),
			xWebhook.Endpoint{ID: "shop", URL: service.URL + "/hook", Secrets: []xWebhook.Secret{secret}},
			xWebhook.Event{ID: "msg_1", Type: "order.paid"})
		fmt.Println(result.Status)
	}
	// Output:
	// received msg_1
	// 200
	// 401
}

func ExampleVerifier_Verify() {
	secret := xWebhook.MustParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	verifier, err := xWebhook.NewVerifier([]xWebhook.Secret{secret})
	if err != nil {
		panic(err)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if _, err := verifier.Verify(r.Header, body); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", strings.NewReader("{}")))
	fmt.Println(w.Code)
	// Output: 401
}

// receivers finds the receivers of an application in its database.
type receivers struct{}

// receiverRow is a row of the table of receivers.
type receiverRow struct {
	URL      string
	Secret   string // as Secret.Reveal has it; encrypted by the application
	Disabled bool
}

// Endpoint implements xWebhook.Endpoints.
func (receivers) Endpoint(ctx context.Context, id string) (xWebhook.Endpoint, error) {
	var rows []receiverRow
	if err := xDB.MustGetDB(ctx).Table("receivers").Where("id = ?", id).Limit(1).Find(&rows).Error; err != nil {
		return xWebhook.Endpoint{}, err
	}
	if len(rows) == 0 || rows[0].Disabled {
		return xWebhook.Endpoint{}, xWebhook.ErrUnknownEndpoint
	}
	secret, err := xWebhook.ParseSecret(rows[0].Secret)
	if err != nil {
		return xWebhook.Endpoint{}, err
	}
	return xWebhook.Endpoint{URL: rows[0].URL, Secrets: []xWebhook.Secret{secret}}, nil
}

// disable implements xWebhook.OnGone.
func disable(ctx context.Context, endpointID string) error {
	return xDB.MustGetDB(ctx).Table("receivers").Where("id = ?", endpointID).Update("disabled", true).Error
}

func ExampleDispatcher() {
	client, err := xWebhook.New()
	if err != nil {
		panic(err)
	}
	hooks, err := xWebhook.NewDispatcher(receivers{}, client, xWebhook.WithOnGone(disable))
	if err != nil {
		panic(err)
	}

	// In the logic, with what the event is about:
	pay := func(ctx context.Context, order int64) error {
		return xDB.Transaction(ctx, func(ctx context.Context) error {
			if err := xDB.MustGetDB(ctx).Table("orders").Where("id = ?", order).Update("paid", true).Error; err != nil {
				return err
			}
			_, err := hooks.Enqueue(ctx, "shop", "order.paid", map[string]any{"order": order})
			return err
		})
	}
	_ = pay

	// Beside the server:
	run := func(ctx context.Context) {
		nodes := []xRegNode.RegNodeList{{Key: xCtx.JobQueueKey, Node: xJob.Init(xOutbox.Open())}}
		reg := xReg.Register(ctx, nodes, xOption.WithDatabase(xOptDatabase.FromEnv()))
		xMain.Runner(reg, nil, nil, xJob.New(xJob.WithHandlers(hooks.Handler()))) //nolint:contextcheck // reg has it
	}
	_ = run

	// With a worker of its own, so that slow receivers hold up no other job:
	others := []xJob.Handler{}
	apart := func(reg *xReg.Reg) {
		xMain.Runner(reg, nil, nil,
			xJob.New(xJob.WithHandlers(hooks.Handler()), xJob.WithConcurrency(50)),
			xJob.New(xJob.WithHandlers(others...)))
	}
	_ = apart

	// For those who look after it:
	replayAll := func(ctx context.Context) error {
		letters, err := hooks.Dead(ctx, xWebhook.DeadQuery{Limit: 50})
		if err != nil {
			return err
		}
		for _, letter := range letters {
			if err := hooks.Replay(ctx, letter.Job); err != nil {
				return err
			}
		}
		return nil
	}
	_ = replayAll
	// Output:
}

func ExampleNewSender() {
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("received", r.Header.Get("Webhook-Id"))
	}))
	defer receiver.Close()
	client, err := xWebhook.New(xWebhook.WithHTTP(), xWebhook.WithAllowLoopback())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	endpoints := xWebhook.StaticEndpoints{"shop": {URL: receiver.URL, Secrets: []xWebhook.Secret{xWebhook.NewSecret()}}}

	sender := xWebhook.NewSender(endpoints, client) // or hooks.Sender(), which stores
	_, err = sender.Send(context.Background(), &xNotify.Message{
		ID: "order-17", Type: xNotify.TypeWebhook, To: []string{"shop"}, Subject: "order.paid", Content: `{"order":17}`,
	})
	fmt.Println(err)
	// Output:
	// received order-17
	// <nil>
}
