package email_test

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/core/major/xreg/xregnode"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

//go:embed templates
var mails embed.FS

// nodes lists the components of an application.
var nodes = []xregnode.Node{
	{Key: xctx.EmailClientKey, Node: email.InitClient},
}

// welcome sends a welcome email.
func welcome(ctx context.Context, userID, name, address string) error {
	err := email.MustGetClient(ctx).Send(ctx, &email.Message{
		ID:       "welcome-" + userID,
		To:       []string{email.Address(name, address)},
		Template: "welcome",
		Language: "zh",
		Variables: map[string]any{
			"app_name": "Shop", "user_name": name, "action_url": "https://shop.example.com/start",
			"support_email": "help@example.com",
		},
	})
	var refused *email.RecipientsError
	if errors.As(err, &refused) {
		return fmt.Errorf("%d recipients rejected: %w", len(refused.Rejected), err)
	}
	return err
}

// ready adds the mail server to the readiness of the service.
func ready(ctx context.Context, client *email.EmailClient) {
	xhook.AddHealth(ctx, "email", client.Ping)
}

func ExampleNew() {
	client, err := email.New(email.Config{
		Host: "mail.example.com", Port: 587, From: "shop@example.com", FromName: "Shop",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer func() { _ = client.Close(ctx) }()

	if err := client.AddTemplateFS(mails, "templates/*.zh.*"); err != nil {
		fmt.Println(err)
	}
	report := &email.Message{
		To:          []string{"Ann <ann@example.com>"},
		Subject:     "Your report",
		HTML:        `<p>Here it is.</p><img src="cid:logo" alt="Shop">`,
		Inlines:     []email.File{{Name: "logo.png", ContentID: "logo", Content: []byte("…")}},
		Attachments: []email.File{{Name: "报告.csv", Content: []byte("a,b\n")}},
		Headers:     map[string]string{"List-Unsubscribe": "<https://shop.example.com/u/7>"},
	}
	fmt.Println(report)
	_, err = email.New(email.Config{
		Host: "mail.example.com", TLS: "none", User: "shop", Pass: "secret",
	})
	fmt.Println(err)
	// Output:
	// {id="" template="" recipients=1}
	// email: EMAIL_PORT: "0" is not a port (accepted: 1 to 65535)
	// EMAIL_TLS: "none" sends the password unencrypted to a remote host (accepted: starttls or tls, or no EMAIL_USER)
	// EMAIL_FROM: is missing (accepted: a sender address)
}

func ExampleNewSender() {
	client, err := email.New(email.Config{
		Host: "mail.example.com", Port: 587, From: "shop@example.com",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeEmail, email.NewSender(client)))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = router.Send(context.Background(), &notifyx.Message{
		Type: notifyx.TypeEmail, To: []string{"ann@example.com, eve@example.com"}, Subject: "Hello",
		Content: "Hello",
	})
	fmt.Println(errors.Is(err, notifyx.ErrMessage))
	// Output: true
}
