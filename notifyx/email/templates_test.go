package email_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/defined/xctx"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// variables returns the variables of all built-in templates.
func variables() map[string]any {
	return map[string]any{
		"app_name": "Shop & Co", "user_name": "<b>Ann</b>",
		"action_url": "https://example.com/go?a=1&b=2", "code": "482 913",
		"expires_in": "15 minutes", "support_email": "help@example.com",
	}
}

// required lists the variables of each built-in template.
var required = map[string][]string{
	"welcome":        {"app_name", "user_name", "action_url", "support_email"},
	"verification":   {"app_name", "user_name", "code", "expires_in", "support_email"},
	"password_reset": {"app_name", "user_name", "action_url", "expires_in", "support_email"},
}

func fromTemplate(name, language string, values map[string]any) *email.Message {
	return &email.Message{
		To: []string{"user@example.com"}, Template: name, Language: language, Variables: values,
	}
}

func TestBuiltinTemplates(t *testing.T) {
	t.Run("are complete", func(t *testing.T) {
		for name, list := range required {
			for language, word := range map[string]string{
				"en": "Hello", "zh": "您好", "zh-CN": "您好", "fr": "Hello", "": "Hello",
			} {
				t.Run(name+" in "+language, func(t *testing.T) {
					header, root := parse(t,
						sent(t, fromTemplate(name, language, variables())).data)
					subject, _ := header.Text("Subject")
					if !strings.Contains(subject, "Shop & Co") ||
						root.Type != "multipart/alternative" || len(root.Parts) != 2 {
						t.Fatalf("subject %q, parts %+v", subject, root)
					}
					text, page := root.Parts[0].Body, root.Parts[1].Body
					if !strings.Contains(text, word) || !strings.Contains(page, word) {
						t.Errorf("wrong language:\n%s", text)
					}
					if !strings.Contains(text, "<b>Ann</b>") ||
						!strings.Contains(page, "&lt;b&gt;Ann&lt;/b&gt;") ||
						strings.Contains(page, "<b>Ann") {
						t.Error("user_name is not escaped")
					}
					if slices.Contains(list, "action_url") &&
						(!strings.Contains(text, "https://example.com/go?a=1&b=2") ||
							!strings.Contains(page, `href="https://example.com/go?a=1&amp;b=2"`)) {
						t.Error("action_url is missing")
					}
					if slices.Contains(list, "code") &&
						(!strings.Contains(text, "482 913") || !strings.Contains(page, "482 913")) {
						t.Error("code is missing")
					}
				})
			}
		}
	})

	t.Run("load no resources and support small and dark screens", func(t *testing.T) {
		for name := range required {
			_, root := parse(t, sent(t, fromTemplate(name, "zh", variables())).data)
			page := root.Parts[1].Body
			for _, forbidden := range []string{
				"<img", "<script", "<link", "url(", "@import", "src=",
			} {
				if strings.Contains(page, forbidden) {
					t.Errorf("%s has %q", name, forbidden)
				}
			}
			for _, want := range []string{
				"prefers-color-scheme: dark", `name="color-scheme"`,
				"max-width: 620px", `role="presentation"`, `lang="zh-CN"`,
			} {
				if !strings.Contains(page, want) {
					t.Errorf("%s lacks %q", name, want)
				}
			}
		}
	})

	t.Run("require every variable", func(t *testing.T) {
		client := newClient(t, config(1))
		for name, list := range required {
			err := client.Send(t.Context(), fromTemplate(name, "en", nil))
			var missing *notifyx.MissingVariablesError
			if !errors.As(err, &missing) || !errors.Is(err, email.ErrMessage) ||
				!errors.Is(err, notifyx.ErrPermanent) {
				t.Fatalf("%s: %v, want a MissingVariablesError", name, err)
			}
			if got, want := slices.Sorted(slices.Values(missing.Variables)),
				slices.Sorted(slices.Values(list)); !slices.Equal(got, want) {
				t.Errorf("%s needs %q, want %q", name, got, want)
			}
		}
	})

	t.Run("reject a link that is not a web address", func(t *testing.T) {
		type text string
		client := newClient(t, config(1))
		for _, link := range []any{
			"javascript:alert(1)", "JavaScript:alert(1)", " javascript:x", "data:text/html,x",
			"vbscript:x", "", "/start", "//example.com/start",
			"example.com", "https:", "https:///start", "http://a b",
			"https://a/\nhttps://evil.example",
			text("javascript:x"), 7,
		} {
			values := variables()
			values["action_url"] = link
			for name, list := range required {
				err := client.Send(t.Context(), fromTemplate(name, "en", values))
				if !slices.Contains(list, "action_url") {
					if errors.Is(err, email.ErrMessage) {
						t.Errorf("%s needs no action_url: %v", name, err)
					}
					continue
				}
				if !isInvalid(err) || !strings.Contains(err.Error(), "action_url") ||
					strings.Contains(err.Error(), "script:") {
					t.Errorf("%s with %q: %v, want ErrMessage without the value", name, link, err)
				}
			}
		}
	})

	t.Run("accept a link of any type that encodes as a JSON string", func(t *testing.T) {
		type address string
		link := "https://example.com/go"
		for _, value := range []any{&link, address(link)} {
			values := variables()
			values["action_url"] = value
			_, root := parse(t, sent(t, fromTemplate("welcome", "en", values)).data)
			if !strings.Contains(root.Parts[0].Body, link) {
				t.Errorf("%T: text:\n%s", value, root.Parts[0].Body)
			}
		}
	})
}

func TestEmailClient_AddTemplateFS(t *testing.T) {
	t.Run("escapes a URL in HTML only", func(t *testing.T) {
		client, s := connect(t, nil)
		files := fstest.MapFS{
			"welcome.subject": {Data: []byte("Hi")}, "welcome.txt": {Data: []byte("${action_url}")},
			"welcome.html": {Data: []byte(`<a href="${action_url}">go</a>`)},
		}
		if err := client.AddTemplateFS(files, "*"); err != nil {
			t.Fatal(err)
		}
		if err := client.Send(t.Context(), fromTemplate("welcome", "en",
			map[string]any{"action_url": "javascript:x"})); err != nil {
			t.Fatal(err)
		}
		_, root := parse(t, s.got()[0].data)
		if text, page := root.Parts[0].Body, root.Parts[1].Body; text != "javascript:x" ||
			strings.Contains(page, "javascript") {
			t.Errorf("text %q, HTML %q", text, page)
		}
	})

	t.Run("overrides a built-in template", func(t *testing.T) {
		client, s := connect(t, nil)
		files := fstest.MapFS{
			"mail/welcome.subject":   {Data: []byte("Hi ${name}\n")},
			"mail/welcome.html.tmpl": {Data: []byte("<p>Hi {{.name}}</p>")},
			"mail/invoice.en.txt":    {Data: []byte("Invoice ${number}")},
		}
		if err := client.AddTemplateFS(files, "mail/*"); err != nil {
			t.Fatal(err)
		}
		if err := client.Send(t.Context(),
			fromTemplate("welcome", "zh", map[string]any{"name": "Ann"})); err != nil {
			t.Fatal(err)
		}
		header, root := parse(t, s.got()[0].data)
		if header.Get("Subject") != "Hi Ann" || strings.TrimSpace(root.Body) != "<p>Hi Ann</p>" {
			t.Errorf("subject %q, message %+v", header.Get("Subject"), root)
		}
		m := fromTemplate("invoice", "", map[string]any{"number": 7})
		m.Subject = "Your invoice"
		if err := client.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if header, root := parse(t, s.got()[1].data); header.Get("Subject") != "Your invoice" ||
			strings.TrimSpace(root.Body) != "Invoice 7" {
			t.Errorf("subject %q, %+v", header.Get("Subject"), root)
		}
		if err := newClient(t, config(s.port)).Send(t.Context(),
			fromTemplate("welcome", "en", variables())); err != nil {
			t.Errorf("built-in template of another client: %v", err)
		}
	})
}

func TestEmailClient_Send_Template(t *testing.T) {
	t.Run("prefers the subject of the template", func(t *testing.T) {
		m := fromTemplate("welcome", "en", variables())
		m.Subject = "Mine"
		header, _ := parse(t, sent(t, m).data)
		if subject, _ := header.Text("Subject"); subject != "Welcome to Shop & Co" {
			t.Errorf("subject = %q", subject)
		}
	})

	t.Run("rejects a variable with a line break in the subject", func(t *testing.T) {
		client := newClient(t, config(1))
		values := variables()
		values["app_name"] = "Shop\r\nBcc: evil@example.com"
		err := client.Send(t.Context(), fromTemplate("welcome", "en", values))
		if !errors.Is(err, email.ErrMessage) || strings.Contains(err.Error(), "evil") {
			t.Errorf("Send = %v, want ErrMessage", err)
		}
	})

	t.Run("does not execute a variable", func(t *testing.T) {
		values := variables()
		values["user_name"] = "${code} {{.code}} ${app_name}"
		_, root := parse(t, sent(t, fromTemplate("verification", "en", values)).data)
		if !strings.Contains(root.Parts[0].Body, "Hello ${code} {{.code}} ${app_name},") {
			t.Errorf("text:\n%s", root.Parts[0].Body)
		}
	})

	t.Run("uses the language of the request", func(t *testing.T) {
		s := startServer(t, nil)
		c := config(s.port)
		c.Language = "zh"
		client := newClient(t, c)
		request := xctx.NewRequest(t.Context(), nil)
		request.SetAcceptLanguage("fr, en;q=0.5, zh;q=0.1")
		for _, tc := range []struct {
			ctx      context.Context
			language string
		}{{t.Context(), ""}, {request, ""}, {request, "zh"}} {
			if err := client.Send(tc.ctx,
				fromTemplate("welcome", tc.language, variables())); err != nil {
				t.Fatal(err)
			}
		}
		var subjects []string
		for _, m := range s.got() {
			header, _ := parse(t, m.data)
			subject, _ := header.Text("Subject")
			subjects = append(subjects, subject)
		}
		want := []string{"欢迎使用 Shop & Co", "Welcome to Shop & Co", "欢迎使用 Shop & Co"}
		if !slices.Equal(subjects, want) {
			t.Errorf("subjects = %q, want %q", subjects, want)
		}
	})

	t.Run("fails for an unknown template", func(t *testing.T) {
		client := newClient(t, config(1))
		err := client.Send(t.Context(), fromTemplate("none", "en", nil))
		if !errors.Is(err, notifyx.ErrNoTemplate) || !errors.Is(err, email.ErrMessage) ||
			errors.Is(err, notifyx.ErrPermanent) {
			t.Errorf("Send = %v, want ErrNoTemplate and not ErrPermanent", err)
		}
		if code := xerror.From(err).GetErrorCode(); code != xerror.ConfigError {
			t.Errorf("code = %s", code.GetOutput())
		}
		if err := client.AddTemplateFS(fstest.MapFS{"a.txt": {Data: []byte("${")}},
			"*"); !errors.Is(err, notifyx.ErrTemplate) {
			t.Errorf("AddTemplateFS = %v, want ErrTemplate", err)
		}
	})
}
