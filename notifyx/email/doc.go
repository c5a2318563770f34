// Package email sends email over SMTP.
//
// List the client as a component and get it from the context:
//
//	{Key: xctx.EmailClientKey, Node: email.InitClient}
//
//	err := email.MustGetClient(ctx).Send(ctx, &email.Message{
//		To: []string{address}, Subject: "Hello", Text: "Hello",
//	})
//
// Encrypted connections never fall back to plain text. Messages with forged headers or
// recipients are rejected before connecting.
package email
