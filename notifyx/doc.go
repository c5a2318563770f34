// Package notifyx sends messages to people and services: mail, webhooks, text messages,
// and whatever an application adds.
//
//	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeEmail, mailer), notifyx.WithTemplates(templates))
//	result, err := router.Send(ctx, &notifyx.Message{
//		Type: notifyx.TypeEmail, To: []string{"ann@example.com"}, Template: "welcome", Variables: map[string]any{"name": "Ann"},
//	})
//
// SendAsync stores the message as a durable job instead, in the transaction that ctx is
// in.
//
// Package notifytest says what a Sender must do. Neither logs nor errors of this package
// show a recipient, a content or the value of a variable.
package notifyx
