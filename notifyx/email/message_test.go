package email_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/notifyx/email"
)

// sent sends a message to a test server and returns what the server received.
func sent(t *testing.T, m *email.Message) received {
	t.Helper()
	client, s := connect(t, nil)
	if err := client.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := s.got()
	if len(got) != 1 {
		t.Fatalf("%d messages arrived, want 1", len(got))
	}
	return got[0]
}

func TestEmailClient_Send_Message(t *testing.T) {
	t.Run("sends every part", func(t *testing.T) {
		got := sent(t, &email.Message{
			ID: "order-7", To: []string{email.Address("王小明", "user@example.com")}, Subject: "您的订单",
			Text: "您好\nend",
			HTML: `<p>您好</p><img src="cid:logo@x" alt="标志">`,
			Inlines: []email.File{{
				Name: "logo.png", ContentID: "logo@x",
				Content: []byte{0x89, 'P', 'N', 'G', 0, '\r', '\n'},
			}},
			Attachments: []email.File{
				{Name: "发票 2026.pdf", Content: []byte("pdf"), ContentType: "application/pdf"},
				{Name: `a "quoted"; name.txt`, Content: []byte("from a file")},
			},
		})
		header, root := parse(t, got.data)
		text := map[string]string{"charset": "UTF-8"}
		want := part{Type: "multipart/mixed", Params: map[string]string{}, Parts: []part{
			{Type: "multipart/related", Params: map[string]string{}, Parts: []part{
				{Type: "multipart/alternative", Params: map[string]string{}, Parts: []part{
					{
						Type: "text/plain", Params: text, Encoding: "quoted-printable",
						Body: "您好\r\nend",
					},
					{
						Type: "text/html", Params: text, Encoding: "quoted-printable",
						Body: `<p>您好</p><img src="cid:logo@x" alt="标志">`,
					},
				}},
				{
					Type: "image/png", Params: map[string]string{"name": "logo.png"},
					Encoding: "base64", Disposition: "inline",
					FileName: "logo.png", ContentID: "<logo@x>", Body: "\x89PNG\x00\r\n",
				},
			}},
			{
				Type: "application/pdf", Params: map[string]string{"name": "发票 2026.pdf"},
				Encoding: "base64", Disposition: "attachment",
				FileName: "发票 2026.pdf", Body: "pdf",
			},
			{
				Type: "text/plain", Params: map[string]string{
					"name":    `a "quoted"; name.txt`,
					"charset": "utf-8",
				}, Encoding: "base64",
				Disposition: "attachment", FileName: `a "quoted"; name.txt`, Body: "from a file",
			},
		}}
		if diff := cmp.Diff(want, root); diff != "" {
			t.Errorf("parts (-want +got):\n%s\n%s", diff, got.data)
		}
		subject, err := header.Text("Subject")
		if err != nil || subject != "您的订单" {
			t.Errorf("Subject = %q, %v", subject, err)
		}
		if to, err := header.Text("To"); err != nil || to != "王小明 <user@example.com>" {
			t.Errorf("To = %q, %v", to, err)
		}
		if from, err := header.Text("From"); err != nil ||
			from != `"The Service" <service@example.com>` {
			t.Errorf("From = %q, %v", from, err)
		}
	})

	t.Run("sends text as a single part", func(t *testing.T) {
		_, root := parse(t, sent(t, &email.Message{
			To: []string{"user@example.com"}, Subject: "s", Text: "a\rb\nc\r\n.\r\n.d",
		}).data)
		want := part{
			Type: "text/plain", Params: map[string]string{"charset": "UTF-8"},
			Encoding: "quoted-printable", Body: "a\r\nb\r\nc\r\n.\r\n.d",
		}
		root.Body = strings.TrimSuffix(root.Body, "\r\n") // the line break before the final dot
		if diff := cmp.Diff(want, root); diff != "" {
			t.Errorf("message (-want +got):\n%s", diff)
		}
	})

	t.Run("sends HTML as a single part", func(t *testing.T) {
		_, root := parse(t, sent(t,
			&email.Message{To: []string{"user@example.com"}, Subject: "s", HTML: "<p>a</p>"}).data)
		if root.Type != "text/html" || strings.TrimSpace(root.Body) != "<p>a</p>" {
			t.Errorf("message = %+v, want the HTML", root)
		}
	})

	t.Run("does not write Bcc to a header", func(t *testing.T) {
		got := sent(t, &email.Message{
			To: []string{"a@example.com"}, Cc: []string{"b@example.com"},
			Bcc:     []string{"Hidden <c@example.org>", "a@example.com"},
			ReplyTo: []string{"answers@example.com"}, Subject: "s", Text: "t",
		})
		want := []string{"a@example.com", "b@example.com", "c@example.org"}
		if diff := cmp.Diff(want, got.to); diff != "" {
			t.Errorf("recipients of the envelope (-want +got):\n%s", diff)
		}
		if text := strings.ToLower(string(got.data)); strings.Contains(text, "bcc:") ||
			strings.Contains(text, "c@example.org") ||
			strings.Contains(text, "hidden") {
			t.Errorf("the message contains Bcc:\n%s", got.data)
		}
		header, _ := parse(t, got.data)
		if header.Get("Cc") != "<b@example.com>" ||
			header.Get("Reply-To") != "<answers@example.com>" ||
			got.from != "service@example.com" {
			t.Errorf("Cc %q, Reply-To %q, envelope from %q",
				header.Get("Cc"), header.Get("Reply-To"), got.from)
		}
	})

	t.Run("accepts Bcc only", func(t *testing.T) {
		got := sent(t, &email.Message{Bcc: []string{"hidden@example.org"}, Subject: "s", Text: "t"})
		if strings.Contains(string(got.data), "hidden") || len(got.to) != 1 {
			t.Errorf("envelope %v, message\n%s", got.to, got.data)
		}
	})

	t.Run("derives the Message-ID from the ID", func(t *testing.T) {
		client, s := connect(t, nil)
		for _, id := range []string{"order-7", "order-7", "order-8", "", ""} {
			m := hello()
			m.ID = id
			if err := client.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		var ids []string
		for _, m := range s.got() {
			header, _ := parse(t, m.data)
			ids = append(ids, header.Get("Message-Id"))
		}
		seen := map[string]bool{}
		for _, id := range ids[1:] {
			seen[id] = true
		}
		if ids[0] != ids[1] || len(seen) != 4 {
			t.Errorf("Message-IDs = %q, want only the first two equal", ids)
		}
		if !strings.HasSuffix(ids[0], "@example.com>") || strings.Contains(ids[0], "order") {
			t.Errorf("Message-ID = %s, want the domain of the sender without the ID",
				ids[0])
		}
	})

	t.Run("uses From for the envelope", func(t *testing.T) {
		m := hello()
		m.From = "News <news@example.com>"
		got := sent(t, m)
		header, _ := parse(t, got.data)
		if got.from != "news@example.com" || header.Get("From") != `"News" <news@example.com>` {
			t.Errorf("envelope %q, header %q", got.from, header.Get("From"))
		}
	})
}

func TestEmailClient_Send_Headers(t *testing.T) {
	t.Run("sends additional headers", func(t *testing.T) {
		m := hello()
		m.Headers = map[string]string{
			"List-Unsubscribe": "<https://example.com/u/" + strings.Repeat("x", 100) + ">",
			"x-reason":         "您好" + strings.Repeat(" wort", 60),
		}
		header, _ := parse(t, sent(t, m).data)
		if got := header.Get("List-Unsubscribe"); got != m.Headers["List-Unsubscribe"] {
			t.Errorf("List-Unsubscribe = %q", got)
		}
		if got, err := header.Text("X-Reason"); err != nil || got != m.Headers["x-reason"] {
			t.Errorf("X-Reason = %q, %v", got, err)
		}
		if header.Has("User-Agent") || header.Has("X-Mailer") {
			t.Error("the message contains the name of the library")
		}
	})

	t.Run("limits lines and writes no blank line", func(t *testing.T) {
		m := hello()
		m.Subject = "a" + strings.Repeat(" ", 400) + "b" + strings.Repeat("您", 150)
		m.To = []string{email.Address("x"+strings.Repeat(" ", 200)+"y", "user@example.com")}
		m.Text = strings.Repeat("z", 5000)
		m.Attachments = []email.File{{Name: strings.Repeat("名", 80) + ".txt", Content: []byte("x")}}
		data := string(sent(t, m).data)
		head, _, _ := strings.Cut(data, "\r\n\r\n")
		for line := range strings.SplitSeq(data, "\r\n") {
			if len(line) > 998 {
				t.Errorf("a line of %d bytes: %.40s", len(line), line)
			}
		}
		for line := range strings.SplitSeq(head, "\r\n") {
			if strings.TrimSpace(line) == "" {
				t.Error("a line of the header is blank")
			}
		}
		_, root := parse(t, []byte(data))
		if got := root.Parts[1].FileName; got != m.Attachments[0].Name {
			t.Errorf("file name = %q", got)
		}
	})

	t.Run("does not change the message", func(t *testing.T) {
		m := hello()
		m.Headers = map[string]string{"X-Word": "  a  b "}
		before := fmt.Sprintf("%#v", m.Headers)
		data := sent(t, m).data
		if after := fmt.Sprintf("%#v", m.Headers); after != before {
			t.Errorf("Headers changed from %s to %s", before, after)
		}
		if header, _ := parse(t, data); header.Get("X-Word") != "a b" {
			t.Errorf("X-Word = %q", header.Get("X-Word"))
		}
	})

	t.Run("preserves text that looks encoded", func(t *testing.T) {
		m := hello()
		m.Subject = "=?utf-8?q?a=0D=0ABcc:_evil@example.com?= " + strings.Repeat("您", 100)
		m.Headers = map[string]string{
			"X-Link": "<https://example.com/?a=?b>",
			"X-Word": "=?utf-8?q?=0D=0A?=",
		}
		data := sent(t, m).data
		header, _ := parse(t, data)
		if got, err := header.Text("Subject"); err != nil || got != m.Subject {
			t.Errorf("Subject = %q, %v", got, err)
		}
		if got, err := header.Text("X-Word"); err != nil || got != m.Headers["X-Word"] {
			t.Errorf("X-Word = %q, %v", got, err)
		}
		if got := header.Get("X-Link"); got != m.Headers["X-Link"] {
			t.Errorf("X-Link = %q", got)
		}
	})
}

func TestEmailClient_Send_SMTPUTF8(t *testing.T) {
	m := hello("用户@例子.example")
	got := sent(t, m)
	if !got.utf8 || got.to[0] != "用户@例子.example" {
		t.Errorf("SMTPUTF8 %t, recipient %q", got.utf8, got.to)
	}
	if ascii := sent(t, hello()); ascii.utf8 {
		t.Error("SMTPUTF8 was requested without need")
	}
	client, s := connect(t, func(s *server) { s.EnableSMTPUTF8 = false })
	err := client.Send(t.Context(), m)
	if !isInvalid(err) {
		t.Errorf("without SMTPUTF8: %v, want ErrMessage", err)
	}
	if _, n, _ := s.counts(); n != 0 {
		t.Error("a message was delivered")
	}
}
