package email_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/notifyx"
	"github.com/plinthgo/plinth/notifyx/email"
	"github.com/plinthgo/plinth/notifyx/notifytest"
)

// mailbox adapts a test server to notifytest.Receiver.
type mailbox struct {
	*server

	t    *testing.T
	mu   sync.Mutex
	mode notifytest.Mode
	done chan struct{} // closed at the end of the test
}

func (*mailbox) Recipient(i int) string { return fmt.Sprintf("reader%d@example.com", i) }

func (b *mailbox) SetMode(m notifytest.Mode) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mode = m
}

func (b *mailbox) reply(int) error {
	b.mu.Lock()
	mode := b.mode
	b.mu.Unlock()
	switch mode {
	case notifytest.FailTemporarily:
		return reply(451, 4, 3, 0)
	case notifytest.FailPermanently:
		return reply(550, 5, 7, 1)
	case notifytest.Hang:
		<-b.done
	default:
	}
	return nil
}

func (b *mailbox) Arrived() []notifytest.Arrival {
	var all []notifytest.Arrival
	for _, m := range b.got() {
		header, root := parse(b.t, m.data)
		subject, err := header.Text("Subject")
		if err != nil {
			b.t.Error(err)
		}
		all = append(all, notifytest.Arrival{
			Mark: header.Get("Message-Id"), To: m.to, Subject: subject, Content: root.Body,
		})
	}
	return all
}

// closable is a sender that closes its client.
type closable struct {
	notifyx.Sender
	client *email.EmailClient
}

func (c closable) Close(ctx context.Context) error { return c.client.Close(ctx) }

func TestNewSender_Conformance(t *testing.T) {
	notifytest.Run(t, notifytest.Harness{
		Type: notifyx.TypeEmail,
		Open: func(tb testing.TB) (notifyx.Sender, notifytest.Receiver) {
			t, ok := tb.(*testing.T)
			if !ok {
				tb.Fatal("the suite runs in tests")
			}
			b := &mailbox{t: t, done: make(chan struct{})}
			b.server = startServer(t, func(s *server) { s.mail = b.reply })
			t.Cleanup(func() { close(b.done) })
			c := config(b.port)
			c.Backoff = func(int) time.Duration { return time.Millisecond }
			client := newClient(t, c)
			return closable{email.NewSender(client), client}, b
		},
	})
}

func TestNewSender_Templates(t *testing.T) {
	client, s := connect(t, nil)
	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeEmail, email.NewSender(client)))
	if err != nil {
		t.Fatal(err)
	}
	m := &notifyx.Message{
		ID: "u-1", Type: notifyx.TypeEmail, To: []string{"user@example.com"}, Template: "welcome",
		Language: "zh", Variables: variables(),
	}
	if _, err := router.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	header, root := parse(t, s.got()[0].data)
	if subject, _ := header.Text("Subject"); subject != "欢迎使用 Shop & Co" || len(root.Parts) != 2 {
		t.Errorf("subject %q with %d parts", subject, len(root.Parts))
	}
	m.Template = "none"
	if _, err := router.Send(t.Context(), m); !errors.Is(err, notifyx.ErrNoTemplate) {
		t.Errorf("unknown template: %v", err)
	}
}

func TestNewSender_Retry(t *testing.T) {
	client, s := connect(t, nil)
	router, err := notifyx.New(notifyx.WithSender(notifyx.TypeEmail, email.NewSender(client)))
	if err != nil {
		t.Fatal(err)
	}
	m := &notifyx.Message{
		ID: "u-1", CreatedAt: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), Type: notifyx.TypeEmail,
		To:       []string{"user@example.com"},
		Template: "welcome", Variables: variables(),
	}
	for range 2 {
		if _, err := router.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	got := s.got()
	if !bytes.Equal(got[0].data, got[1].data) {
		t.Errorf("the retry differs:\n%s\n%s", got[0].data, got[1].data)
	}
	if header, _ := parse(t, got[0].data); header.Get("Date") != "Tue, 03 Feb 2026 04:05:06 +0000" {
		t.Errorf("Date = %q", header.Get("Date"))
	}
}

func TestNewSender_NilClient(t *testing.T) {
	if _, err := notifyx.New(notifyx.WithSender(notifyx.TypeEmail,
		email.NewSender(nil))); err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("New = %v, want an error", err)
	}
}

func TestNewSender_MessageType(t *testing.T) {
	client := newClient(t, config(1))
	m := &notifyx.Message{
		Type: notifyx.TypeSMS, To: []string{"user@example.com"}, Subject: "s", Content: "c",
	}
	if err := email.NewSender(client).Send(t.Context(), m); !errors.Is(err, notifyx.ErrMessage) ||
		!strings.Contains(err.Error(), "EMAIL") {
		t.Errorf("Send = %v, want ErrMessage", err)
	}
}
