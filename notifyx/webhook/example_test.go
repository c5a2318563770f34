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

	"github.com/plinthgo/plinth/asyncx/job"
	"github.com/plinthgo/plinth/asyncx/outbox"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmain"
	"github.com/plinthgo/plinth/core/major/xmiddle"
	"github.com/plinthgo/plinth/core/major/xoption"
	"github.com/plinthgo/plinth/core/major/xoption/xoptdatabase"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/core/major/xresult"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/webhook"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

func ExampleClient_Send() {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(string(body[:20]), r.Header.Get("Webhook-Id"))
	}))
	defer target.Close()

	// public receivers need no options
	client, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	secret := signature.NewSecret() // show secret.Reveal() to the receiver once
	result, err := client.Send(context.Background(),
		webhook.Endpoint{ID: "shop", URL: target.URL, Secrets: []signature.Secret{secret}},
		webhook.Event{ID: "msg_1", Type: "order.paid", Data: map[string]any{"order": 17}})
	fmt.Println(result.Status, err)
	// Output:
	// {"type":"order.paid" msg_1
	// 200 <nil>
}

func ExampleClient_CheckURL() {
	client, err := webhook.New()
	if err != nil {
		panic(err)
	}
	for _, url := range []string{
		"https://example.com/hook", "http://example.com/hook",
		"https://169.254.169.254/",
	} {
		err := client.CheckURL(url)
		fmt.Println(err == nil, errors.Is(err, webhook.ErrURL),
			errors.Is(err, webhook.ErrBlockedAddress))
	}
	// Output:
	// true false false
	// false true false
	// false false true
}

func ExampleMiddleware() {
	// read it from the configuration
	secret := signature.MustParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(xmiddle.ResponseMiddleware)
	engine.POST("/hook", receiver.Middleware(verifier), func(c *gin.Context) {
		delivery, _ := receiver.DeliveryFrom(c)
		fmt.Println("received", delivery.ID) // skip IDs that were processed before
		xresult.Success(c, "ok")
	})
	service := httptest.NewServer(engine)
	defer service.Close()

	client, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	for _, secret := range []signature.Secret{secret, signature.NewSecret()} {
		result, _ := client.Send(context.Background(),
			webhook.Endpoint{
				ID: "shop", URL: service.URL + "/hook", Secrets: []signature.Secret{secret},
			},
			webhook.Event{ID: "msg_1", Type: "order.paid"})
		fmt.Println(result.Status)
	}
	// Output:
	// received msg_1
	// 200
	// 401
}

func ExampleVerifier_Verify() {
	secret := signature.MustParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
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
	handler(w, httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/",
		strings.NewReader("{}")))
	fmt.Println(w.Code)
	// Output: 401
}

// receivers reads the receivers from the database of the application.
type receivers struct{}

// receiverRow is a row of the receivers table.
type receiverRow struct {
	URL      string
	Secret   string // result of Secret.Reveal, encrypted by the application
	Disabled bool
}

// Endpoint implements webhook.Endpoints.
func (receivers) Endpoint(ctx context.Context, id string) (webhook.Endpoint, error) {
	var rows []receiverRow
	if err := xdb.MustGetDB(ctx).Table("receivers").Where("id = ?",
		id).Limit(1).Find(&rows).Error; err != nil {
		return webhook.Endpoint{}, err
	}
	if len(rows) == 0 || rows[0].Disabled {
		return webhook.Endpoint{}, webhook.ErrUnknownEndpoint
	}
	secret, err := signature.ParseSecret(rows[0].Secret)
	if err != nil {
		return webhook.Endpoint{}, err
	}
	return webhook.Endpoint{URL: rows[0].URL, Secrets: []signature.Secret{secret}}, nil
}

// disable disables a receiver that responded with 410.
func disable(ctx context.Context, endpointID string) error {
	return xdb.MustGetDB(ctx).Table("receivers").Where("id = ?", endpointID).Update("disabled",
		true).Error
}

func ExampleDispatcher() {
	client, err := webhook.New()
	if err != nil {
		panic(err)
	}
	hooks, err := webhook.NewDispatcher(receivers{}, client, webhook.WithOnGone(disable))
	if err != nil {
		panic(err)
	}

	// Store the event in the transaction of the change:
	pay := func(ctx context.Context, order int64) error {
		return xdb.Transaction(ctx, func(ctx context.Context) error {
			if err := xdb.MustGetDB(ctx).Table("orders").Where("id = ?", order).Update("paid",
				true).Error; err != nil {
				return err
			}
			_, err := hooks.Enqueue(ctx, "shop",
				webhook.Event{Type: "order.paid", Data: map[string]any{"order": order}})
			return err
		})
	}
	_ = pay

	// Deliver events in the server process:
	run := func(ctx context.Context) {
		nodes := []xregnode.Node{{Key: xctx.JobQueueKey, Node: job.Init(outbox.Open())}}
		reg := xreg.Register(ctx, nodes, xoption.WithDatabase(xoptdatabase.FromEnv()))
		xmain.Runner(reg, nil, nil, job.New(job.WithHandlers(hooks.Handler()))) // reg contains it
	}
	_ = run

	// Or use a separate worker, so that slow receivers delay no other jobs:
	others := []job.Handler{}
	separate := func(reg *xreg.Reg) {
		xmain.Runner(reg, nil, nil,
			job.New(job.WithHandlers(hooks.Handler()), job.WithConcurrency(50)),
			job.New(job.WithHandlers(others...)))
	}
	_ = separate

	// Replay dead-lettered events:
	replayAll := func(ctx context.Context) error {
		queue := job.MustGetQueue(ctx)
		letters, err := queue.List(ctx,
			job.Query{State: job.StateDead, Kind: webhook.JobKind, Limit: 50})
		if err != nil {
			return err
		}
		for _, letter := range letters {
			if err := queue.Replay(ctx, letter.ID); err != nil {
				return err
			}
		}
		return nil
	}
	_ = replayAll
	// Output:
}

func ExampleNewSender() {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Println("received", r.Header.Get("Webhook-Id"))
	}))
	defer target.Close()
	client, err := webhook.New(webhook.WithHTTP(), webhook.WithAllowLoopback())
	if err != nil {
		panic(err)
	}
	defer client.Close()
	endpoints := webhook.StaticEndpoints{"shop": {
		URL:     target.URL,
		Secrets: []signature.Secret{signature.NewSecret()},
	}}

	sender := webhook.NewSender(endpoints, client) // or hooks.Sender(), which stores events
	err = sender.Send(context.Background(), &notifyx.Message{
		ID: "order-17", Type: notifyx.TypeWebhook, To: []string{"shop"}, Subject: "order.paid",
		Content: `{"order":17}`,
	})
	fmt.Println(err)
	// Output:
	// received order-17
	// <nil>
}
