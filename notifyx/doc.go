// Package notifyx sends notifications: email, webhooks, text messages, and types that an
// application adds.
//
//	router, err := notifyx.New(
//		notifyx.WithSender(notifyx.TypeEmail, mailer), notifyx.WithTemplates(templates))
//	result, err := router.Send(ctx, &notifyx.Message{
//		Type: notifyx.TypeEmail, To: []string{"ann@example.com"},
//		Template: "welcome", Variables: map[string]any{"name": "Ann"},
//	})
//
// SendAsync stores the message as a durable job instead, in the transaction of ctx.
//
// Package notifytest is the conformance suite for senders. Logs and errors of this
// package contain no recipient, content or variable value.
package notifyx
