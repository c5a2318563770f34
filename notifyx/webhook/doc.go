// Package webhook sends webhooks according to the Standard Webhooks specification.
// Package receiver verifies received webhooks, and package signature provides the shared
// secrets.
//
// A Client makes one attempt. It signs the request, follows no redirects, connects to
// public addresses only, and limits the time, headers and body of a response. A
// Dispatcher stores an event in the caller's transaction and delivers it as a durable
// job. Retries use a schedule and the same event ID.
//
//	client, err := webhook.New()
//	result, err := client.Send(ctx,
//		webhook.Endpoint{ID: "shop", URL: url, Secrets: []signature.Secret{secret}},
//		webhook.Event{Type: "order.paid", Data: order})
//
// All types are safe for concurrent use. Errors and logs contain no secret, URL, payload
// or response body.
package webhook
