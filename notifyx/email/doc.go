// Package email sends mail over SMTP. Import it as xEmail.
//
// A service lists the client as a node, and its handlers take it from their context:
//
//	{Key: xCtx.EmailClientKey, Node: xEmail.InitClient}
//
//	err := xEmail.MustGetClient(ctx).Send(ctx, &xEmail.Message{To: []string{address}, Subject: "Hello", Text: "Hello"})
//
// A connection that is to be encrypted never falls back to plain text, and what could forge a header or a recipient is refused
// before any connection is made.
package email
