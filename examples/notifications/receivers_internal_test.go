//go:build unix

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/plinthgo/plinth/examples/notifications/internal/sink"
	"github.com/plinthgo/plinth/notifyx/webhook/receiver"
	"github.com/plinthgo/plinth/notifyx/webhook/signature"
)

// gate switches a test server between accepting and rejecting.
type gate struct{ closed atomic.Bool }

// mailbox is an external mail server.
type mailbox struct {
	gate

	mails chan sink.Mail // all received mails, including rejected ones
	kept  []sink.Mail    // received while next waited for other mails
	hold  chan struct{}  // delays responses until it is closed; may be nil
	env   []string
}

// openMailbox starts a mail server. If hold is not nil, the server does not respond to
// mails until hold is closed.
func openMailbox(t *testing.T, hold chan struct{}) *mailbox {
	t.Helper()
	b := &mailbox{mails: make(chan sink.Mail, 1000), hold: hold}
	server, err := sink.Listen(t.Context(), func(m sink.Mail) error {
		b.mails <- m
		if b.hold != nil {
			<-b.hold
		}
		if b.closed.Load() {
			return &smtp.SMTPError{
				Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "not now, " + m.To[0],
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	b.env = []string{
		"EMAIL_HOST=" + server.Host(), "EMAIL_PORT=" + strconv.Itoa(server.Port()),
		"EMAIL_TLS=none", "EMAIL_FROM=shop@example.org",
	}
	return b
}

// next returns the next mail to an address and stores other mails for later calls,
// because jobs run in any order.
func (b *mailbox) next(t *testing.T, address string) sink.Mail {
	t.Helper()
	to := func(m sink.Mail) bool { return slices.Equal(m.To, []string{address}) }
	if i := slices.IndexFunc(b.kept, to); i >= 0 {
		m := b.kept[i]
		b.kept = slices.Delete(b.kept, i, i+1)
		return m
	}
	for timeout := time.After(20 * time.Second); ; {
		select {
		case m := <-b.mails:
			if to(m) {
				return m
			}
			b.kept = append(b.kept, m)
		case <-timeout:
			t.Fatalf("no mail to %s", address)
		}
	}
}

// received is a webhook with a valid signature.
type received struct{ id, body string }

// inbox is an external webhook receiver.
type inbox struct {
	gate

	hooks chan received // all received webhooks, including those without a response
	env   []string
}

// openInbox starts a receiver, which does not respond while its gate is closed.
func openInbox(t *testing.T) *inbox {
	t.Helper()
	secret := signature.NewSecret()
	verifier, err := receiver.NewVerifier([]signature.Secret{secret})
	if err != nil {
		t.Fatal(err)
	}
	b := &inbox{hooks: make(chan received, 1000)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		delivery, err := verifier.Verify(r.Header, body)
		if err != nil {
			t.Error(err)
		}
		b.hooks <- received{delivery.ID, string(body)}
		if b.closed.Load() {
			<-r.Context().Done() // until the sender disconnects
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	b.env = []string{
		"NOTIFICATIONS_HOOK_URL=" + server.URL,
		"NOTIFICATIONS_HOOK_SECRET=" + secret.Reveal(),
	}
	return b
}

// next returns the next webhook.
func (b *inbox) next(t *testing.T) received {
	t.Helper()
	select {
	case hook := <-b.hooks:
		return hook
	case <-time.After(20 * time.Second):
		t.Fatal("no webhook")
		return received{}
	}
}
