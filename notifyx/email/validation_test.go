package email_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

func isInvalid(err error) bool {
	return errors.Is(err, email.ErrMessage) && errors.Is(err, notifyx.ErrMessage) &&
		errors.Is(err, notifyx.ErrPermanent)
}

func TestEmailClient_Send_Validation(t *testing.T) {
	t.Run("rejects an invalid message without connecting", func(t *testing.T) {
		s := startFaultyServer(t, &faultyServer{})
		c := config(s.port)
		c.MaxSize, c.MaxRecipients = 100_000, 10
		client := newClient(t, c)
		file := func(f email.File) func(*email.Message) {
			return func(m *email.Message) { m.Attachments = []email.File{f} }
		}
		header := func(name, value string) func(*email.Message) {
			return func(m *email.Message) { m.Headers = map[string]string{name: value} }
		}
		to := func(list ...string) func(*email.Message) {
			return func(m *email.Message) { m.To = list }
		}
		text := []byte("x")
		for _, tc := range []struct {
			name   string
			change func(*email.Message)
		}{
			{"no recipient", to()},
			{"an empty recipient", to("")},
			{"a recipient with a line break", to("user@example.com\r\nRCPT TO:<evil@example.com>")},
			{"a recipient with a line feed", to("user@example.com\n")},
			{"a recipient with a zero byte", to("user@example.com\x00")},
			{"a name with a line break", to("\"A\r\nBcc: evil@example.com\" <user@example.com>")},
			{
				"a name with an encoded line break",
				to("=?utf-8?q?A=0D=0ABcc:_evil@example.com?= <user@example.com>"),
			},
			{
				"a name of Address with a line break",
				to(email.Address("A\r\nBcc: evil@example.com", "user@example.com")),
			},
			{"a name that changes the text direction", to("\u202egro.knab <user@example.com>")},
			{"two recipients in one string", to("a@example.com, b@example.com")},
			{"a group", to("G: a@example.com, b@example.com;")},
			{"a group with one member", to("G: a@example.com;")},
			{"an empty group", to("Undisclosed:;")},
			{"a route", to("<@evil.example:user@example.com>")},
			{"a quoted local part", to(`"a b"@example.com`)},
			{
				"a quoted local part with an address in it",
				to(`"<evil@evil.example> x"@example.com`),
			},
			{"an address literal", to("user@[127.0.0.1]")},
			{"no domain", to("root")},
			{"a full-width at sign", to("user＠evil.example@example.com")},
			{"a line separator", to("us\u2028er@example.com")},
			{"an invisible character", to("us\u200ber@example.com")},
			{"bytes that are not UTF-8", to("us\xffer@example.com")},
			{"a domain with a space", to("user@exa mple.com")},
			{"a domain with an underscore", to("user@exa_mple.com")},
			{"a long local part", to(strings.Repeat("a", 65) + "@example.com")},
			{
				"too many recipients",
				to(strings.Split(strings.Repeat("user@example.com ", 11), " ")[:11]...),
			},
			{"invalid From", func(m *email.Message) { m.From = "a@example.com\r\nX: y" }},
			{"invalid Cc", func(m *email.Message) { m.Cc = []string{"a@b, c@d"} }},
			{"invalid Bcc", func(m *email.Message) { m.Bcc = []string{"a\n@b"} }},
			{"invalid ReplyTo", func(m *email.Message) {
				m.ReplyTo = []string{"a@example.com\r\nBcc: x@y"}
			}},
			{
				"a subject with a line break",
				func(m *email.Message) { m.Subject = "a\r\nBcc: evil@example.com" },
			},
			{"a subject with a carriage return", func(m *email.Message) { m.Subject = "a\rb" }},
			{"a subject with a zero byte", func(m *email.Message) { m.Subject = "a\x00" }},
			{"no subject", func(m *email.Message) { m.Subject = " " }},
			{"a long subject", func(m *email.Message) { m.Subject = strings.Repeat("a", 1000) }},
			{"no content", func(m *email.Message) { m.Text = "" }},
			{"text that is not UTF-8", func(m *email.Message) { m.Text = "\xff" }},
			{"a header with a line break", header("X-A", "a\r\nBcc: evil@example.com")},
			{"a header name with a line break", header("X-A: b\r\nBcc", "evil@example.com")},
			{"a header name with a colon", header("X:", "a")},
			{"a header without a name", header("", "a")},
			{"Bcc as a header", header("bCC", "evil@example.com")},
			{"Content-Type as a header", header("content-type", "text/html")},
			{"Message-ID as a header", header("Message-ID", "<x@y>")},
			{"From as a header", header("From", "x@y")},
			{
				"the same header twice",
				func(m *email.Message) { m.Headers = map[string]string{"X-A": "1", "x-a": "2"} },
			},
			{"a file name with a line break", file(email.File{Name: "a\r\nX: y", Content: text})},
			{"a file name with a directory", file(email.File{Name: "../a", Content: text})},
			{
				"a file name that changes the text direction",
				file(email.File{Name: "a\u202efdp.exe", Content: text}),
			},
			{
				"a file name with an encoded word",
				file(email.File{Name: "=?utf-8?B?Li4vLi4veA==?=", Content: text}),
			},
			{"a file without a name", file(email.File{Content: text})},
			{"a file without content", file(email.File{Name: "a"})},
			{
				"a file that is too large",
				file(email.File{Name: "a", Content: make([]byte, 100_001)}),
			},
			{
				"a file that is too large when encoded",
				file(email.File{Name: "a", Content: make([]byte, 90_000)}),
			},
			{
				"a file type with a line break",
				file(email.File{Name: "a", Content: text, ContentType: "text/plain\r\nX: y"}),
			},
			{
				"a file type that is not a media type",
				file(email.File{Name: "a", Content: text, ContentType: "text"}),
			},
			{
				"a multipart file",
				file(email.File{
					Name: "a", Content: text, ContentType: "multipart/mixed; boundary=x",
				}),
			},
			{
				"an attachment with a ContentID",
				file(email.File{Name: "a", Content: text, ContentID: "x"}),
			},
			{
				"an inline file without HTML",
				func(m *email.Message) { m.Inlines = []email.File{{Name: "a", Content: text}} },
			},
			{"a ContentID with a bracket", func(m *email.Message) {
				m.HTML, m.Inlines = "<p>",
					[]email.File{{Name: "a", ContentID: "a>\r\nX: y", Content: text}}
			}},
			{"a duplicate ContentID", func(m *email.Message) {
				m.HTML, m.Inlines = "<p>",
					[]email.File{
						{Name: "a", Content: text},
						{Name: "b", ContentID: "a", Content: text},
					}
			}},
			{"a template and text", func(m *email.Message) { m.Template = "welcome" }},
		} {
			t.Run(tc.name, func(t *testing.T) {
				m := hello()
				tc.change(m)
				err := client.Send(t.Context(), m)
				if !isInvalid(err) {
					t.Fatalf("Send = %v, want ErrMessage and ErrPermanent", err)
				}
				if strings.ContainsAny(err.Error(), "\r\x00") ||
					strings.Contains(err.Error(), "evil") {
					t.Errorf("error contains the forged text: %q", err)
				}
			})
		}
		if err := client.Send(t.Context(), hello(), nil); !isInvalid(err) {
			t.Errorf("nil message: %v", err)
		}
		if n := s.connections(); n != 0 {
			t.Errorf("%d connections were made", n)
		}
	})

	t.Run("reports all problems at once", func(t *testing.T) {
		client := newClient(t, config(1))
		err := client.Send(t.Context(), &email.Message{
			To:      []string{"x", "user@example.com", "y"},
			Headers: map[string]string{"From": "z"},
		})
		for _, want := range []string{"To 1", "To 3", "no content", "From is reserved"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
	})

	t.Run("sends no message if one is invalid", func(t *testing.T) {
		client, s := connect(t, nil)
		invalid := hello("x")
		invalid.ID = "invalid"
		err := client.Send(t.Context(), hello(), invalid)
		var failed *email.MessageError
		if !errors.As(err, &failed) || failed.Index != 1 || failed.ID != "invalid" ||
			!isInvalid(err) {
			t.Errorf("Send = %v, want a MessageError about the second", err)
		}
		if sessions, n, _ := s.counts(); sessions != 0 || n != 0 {
			t.Errorf("%d connections, %d messages", sessions, n)
		}
	})

	t.Run("accepts common addresses", func(t *testing.T) {
		client, s := connect(t, nil)
		list := []string{
			"user@example.com", "User <user+tag@mail.example.com>", "o'brien@example.co.uk",
			`"Doe, Jane" <jane.doe@example.com>`,
			"=?utf-8?q?J=C3=BCrgen?= <j@example.com>", "x@xn--fiqs8s.example",
			email.Address("a \"b\" \\ <c>", "c@example.com"),
		}
		if err := client.Send(t.Context(), hello(list...)); err != nil {
			t.Fatal(err)
		}
		if got := s.got()[0].to; len(got) != len(list) {
			t.Errorf("recipients = %q", got)
		}
	})
}

func TestMessage_Format(t *testing.T) {
	m := email.Message{
		ID: "m", To: []string{"user@example.com"}, Text: "geheim",
		Variables: map[string]any{"code": "geheim"},
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", slog.Any("m", m), slog.Any("p", &m))
	for _, text := range []string{m.String(), log.String(), sprint("%v %+v %#v %s", m, &m, m, &m)} {
		if strings.Contains(text, "geheim") || strings.Contains(text, "user@") ||
			!strings.Contains(text, "recipients=1") {
			t.Errorf("formatted as %s", text)
		}
	}
}

func FuzzCompose_Address(f *testing.F) {
	for _, seed := range []string{
		"a@b.c", "x <a@b.c>", "a@b\r\nc", "G:a@b;",
		"=?utf-8?q?=0A?= <a@b>", `"a"@b`, "a@[1.2.3.4]", "(c) a@b",
	} {
		f.Add(seed)
	}
	client, err := email.New(config(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, address string) {
		composed, err := email.Compose(t.Context(), client, hello(address))
		if err != nil {
			if !isInvalid(err) {
				t.Fatalf("%q: %v", address, err)
			}
			return
		}
		if len(composed.Recipients) != 1 ||
			strings.ContainsAny(composed.Recipients[0], "\r\n\x00 <>\"") {
			t.Fatalf("%q: recipients %q", address, composed.Recipients)
		}
		header, _ := parse(t, composed.Content)
		fields, n := header.Fields(), 0
		for fields.Next() {
			n++
		}
		if n != 8 {
			t.Fatalf("%q: %d header fields:\n%s", address, n, composed.Content)
		}
	})
}

func FuzzCompose_Subject(f *testing.F) {
	for _, seed := range []string{
		"a", "a\r\nb", "=?utf-8?q?=0A?=", strings.Repeat(" ", 100) + "x", "您好",
	} {
		f.Add(seed)
	}
	client, err := email.New(config(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, subject string) {
		m := hello()
		m.Subject, m.Headers = subject, map[string]string{"X-A": subject}
		composed, err := email.Compose(t.Context(), client, m)
		if err != nil {
			if !isInvalid(err) {
				t.Fatalf("%q: %v", subject, err)
			}
			return
		}
		header, body := parse(t, composed.Content)
		fields, n := header.Fields(), 0
		for fields.Next() {
			n++
		}
		if n != 9 || strings.TrimRight(body.Body, "\r\n") != "Hello" {
			t.Fatalf("%q: %d header fields:\n%s", subject, n, composed.Content)
		}
	})
}
