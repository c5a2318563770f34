// Package email sends mail over SMTP.
//
// A service lists the client as a node, and its handlers take it from their context:
//
//	{Key: xctx.EmailClientKey, Node: email.InitClient}
//
//	err := email.MustGetClient(ctx).Send(ctx, &email.Message{To: []string{address}, Subject: "Hello", Text: "Hello"})
//
// A connection that is to be encrypted never falls back to plain text, and what could
// forge a header or a recipient is refused before any connection is made.
package email
