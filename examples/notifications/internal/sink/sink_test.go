package sink_test

import (
	"errors"
	"testing"

	"github.com/emersion/go-smtp"

	"github.com/plinthgo/plinth/examples/notifications/internal/sink"
	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
)

// open starts a server and returns a client. The server sends each mail to the returned
// channel and responds with err.
func open(t *testing.T, err error) (*email.EmailClient, <-chan sink.Mail) {
	t.Helper()
	mails := make(chan sink.Mail, 10)
	server, failed := sink.Listen(t.Context(), func(m sink.Mail) error { mails <- m; return err })
	if failed != nil {
		t.Fatal(failed)
	}
	client, failed := email.New(email.Config{
		Host: server.Host(), Port: server.Port(), From: "hello@example.org", TLS: "none",
	})
	if failed != nil {
		t.Fatal(failed)
	}
	t.Cleanup(func() {
		if err := errors.Join(client.Close(t.Context()), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return client, mails
}

func TestServer_Receive(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		mail email.Message
		want string
	}{
		{name: "text only", mail: email.Message{Text: "a = b\nc\n"}, want: "a = b\nc\n"},
		{
			name: "text with HTML",
			mail: email.Message{Text: "你好\n", HTML: "<p>你好</p>"}, want: "你好\n",
		},
		{
			name: "text with a file",
			mail: email.Message{
				Text: "see there\n", HTML: "<p>x</p>",
				Attachments: []email.File{{Name: "a.txt", Content: []byte("other")}},
			},
			want: "see there\n",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			client, mails := open(t, nil)
			tc.mail.To, tc.mail.Subject = []string{"ada@example.org"}, "你好, Ada"
			if err := client.Send(t.Context(), &tc.mail); err != nil {
				t.Fatal(err)
			}
			if m := <-mails; m.Text != tc.want || m.Subject != "你好, Ada" || len(m.To) != 1 ||
				m.To[0] != "ada@example.org" || m.ID == "" {
				t.Errorf("mail = %+v, want the text %q", m, tc.want)
			}
		})
	}
}

func TestServer_Reject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, to string }{
		{name: "unknown mailbox", to: "eve@" + sink.Refused},
		{name: "rejected by Receive", to: "eve@example.org"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			client, _ := open(t, &smtp.SMTPError{Code: 554, Message: "no"})
			err := client.Send(t.Context(),
				&email.Message{To: []string{tc.to}, Subject: "a", Text: "b"})
			if !errors.Is(err, notifyx.ErrPermanent) {
				t.Errorf("Send = %v, want a permanent error", err)
			}
		})
	}
}

// TestServer_Close repeats Close, because Serve may not have started yet.
func TestServer_Close(t *testing.T) {
	t.Parallel()
	for range 100 {
		server, err := sink.Listen(t.Context(), func(sink.Mail) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
