package email_test

import (
	"fmt"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/core/major/xhook"
	"github.com/plinthgo/plinth/notifyx/email"
)

func TestDocumentationSnippets(t *testing.T) {
	s := startServer(t, nil)
	setenv(t, map[string]string{
		"EMAIL_HOST": "127.0.0.1", "EMAIL_PORT": fmt.Sprint(s.port),
		"EMAIL_FROM": "shop@example.com", "EMAIL_TLS": "none",
	})
	value, err := nodes[0].Node(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client := value.(*email.EmailClient)
	hooks := xhook.New()
	ctx := contextWith(xhook.NewContext(t.Context(), hooks), xctx.EmailClientKey, client)
	ready(ctx, client)
	if got := hooks.Check(ctx); len(got) != 1 || !got[0].OK {
		t.Errorf("checks = %+v", got)
	}
	if err := welcome(ctx, "7", "王小明", "user@example.com"); err != nil {
		t.Error(err)
	}
	if err := client.Close(t.Context()); err != nil {
		t.Error(err)
	}
	header, _ := parse(t, s.got()[0].data)
	if subject, _ := header.Text("Subject"); subject != "欢迎使用 Shop" {
		t.Errorf("Subject = %q", subject)
	}
}
