// Package webhook sends webhooks as the Standard Webhooks specification defines them.
// Package receiver is the other side, package signature has the secrets that both share.
//
// A Client makes one attempt. It signs, follows no redirect, connects to public addresses
// only, and limits the time, headers and body of a response. A Dispatcher stores an event
// in the caller's transaction and delivers it as a durable job: it retries along a
// schedule, with the same ID.
//
//	client, err := webhook.New()
//	result, err := client.Send(ctx,
//		webhook.Endpoint{ID: "shop", URL: url, Secrets: []signature.Secret{signature.NewSecret()}},
//		webhook.Event{Type: "order.paid", Data: order})
//
// Everything is safe for concurrent use. Neither errors nor log lines contain a secret, a
// URL, a payload or what a receiver has responded.
package webhook
