package notifyx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing/fstest"

	"github.com/plinthgo/plinth/core/common/xlog"
	"github.com/plinthgo/plinth/notifyx"
)

func ExampleTemplates() {
	files := fstest.MapFS{ // a service embeds them: //go:embed templates
		"templates/welcome.en.subject": {Data: []byte("Welcome, ${user.name}")},
		"templates/welcome.en.html": {Data: []byte(
			`<a href="https://example.com/?u=${user.id}">${user.name}</a>`)},
		"templates/welcome.zh.subject": {Data: []byte("欢迎，${user.name}")},
		"templates/welcome.txt.tmpl":   {Data: []byte("{{range .steps}}- {{.}}\n{{end}}")},
	}
	templates := notifyx.NewTemplates()
	if err := templates.AddFS(files, "templates/*"); err != nil {
		fmt.Println(err)
		return
	}
	text, err := templates.Render("welcome", "en-GB,zh;q=0.5", map[string]any{
		"user":  map[string]any{"name": "Ann & Bob", "id": 17},
		"steps": []string{"confirm", "enjoy"},
	})
	fmt.Println(text.Subject, err)
	fmt.Println(text.HTML)
	fmt.Print(text.Text)

	_, err = templates.Render("welcome", "zh", nil)
	fmt.Println(err)
	// Output:
	// Welcome, Ann & Bob <nil>
	// <a href="https://example.com/?u=17">Ann &amp; Bob</a>
	// - confirm
	// - enjoy
	// notifyx: template "welcome": missing variables: user.name, steps
}

// smsSender sends text messages through a provider.
type smsSender struct{}

// Send implements notifyx.Sender.
func (smsSender) Send(ctx context.Context, m *notifyx.Message) error {
	if err := m.Validate(); err != nil {
		return err
	}
	return deliver(ctx, m.ID, m.To, m.Content)
}

// deliver simulates the API of a provider.
func deliver(_ context.Context, _ string, to []string, _ string) error {
	if to[0] == "+490" {
		return notifyx.Permanent(errors.New("no such number"))
	}
	return nil
}

// withoutLog keeps log lines out of the output.
func withoutLog(ctx context.Context) context.Context {
	engine, err := xlog.New(xlog.Config{Writer: io.Discard})
	if err != nil {
		panic(err)
	}
	return xlog.NewContext(ctx, engine)
}

func ExampleNew() {
	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeSMS, smsSender{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := withoutLog(context.Background())
	result, err := router.Send(ctx,
		&notifyx.Message{Type: notifyx.TypeSMS, To: []string{"+4912345"}, Content: "Hello"})
	fmt.Println(result.Success, result.ErrorCode, err)

	result, err = router.Send(ctx,
		&notifyx.Message{Type: notifyx.TypeSMS, To: []string{"+490"}, Content: "Hello"})
	fmt.Println(result.Success, result.ErrorCode, err, errors.Is(err, notifyx.ErrPermanent))

	_, err = router.Send(ctx, &notifyx.Message{
		Type: notifyx.TypeEmail, To: []string{"ann@example.com"}, Content: "Hello",
	})
	fmt.Println(err)
	// Output:
	// true 0 <nil>
	// false 50024 notifyx: send SMS: no such number true
	// notifyx: no sender is registered for the type EMAIL: add notifyx.WithSender("EMAIL", sender) to the router
}

func ExampleMessage_Validate() {
	m := &notifyx.Message{
		Type: notifyx.TypeEmail,
		To:   []string{"ann@example.com\r\nBcc: eve@example.com"}, Priority: 9,
	}
	fmt.Println(m.Validate())
	// Output:
	// notifyx: the message is not valid: priority: 1 to 4, or 0 for the default; to: recipient 1 has a line break, another control character, or is not UTF-8; content: neither content nor a template
}
