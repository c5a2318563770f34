// Package webhook sends and verifies webhooks as the Standard Webhooks specification has them.
//
// A Client sends one attempt. It signs, follows no redirect, connects to public addresses only, and bounds what a receiver
// may take: time, headers, body. A Dispatcher stores an event in the transaction of the caller and delivers it as a durable
// job, again and again along a schedule, with the same id. A Verifier is the other side: it checks what was received, by
// itself or as a gin middleware.
//
//	secret := webhook.NewSecret()
//	client, err := webhook.New()
//	result, err := client.Send(ctx, webhook.Endpoint{ID: "shop", URL: url, Secrets: []webhook.Secret{secret}},
//		webhook.Event{Type: "order.paid", Data: order})
//
// Everything is safe for concurrent use. Neither errors nor log lines hold a secret, a URL, a payload or what a receiver
// has answered.
package webhook
